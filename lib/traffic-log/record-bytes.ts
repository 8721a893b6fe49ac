import type {MessageOrigin} from '../core/envelope.js';
import type {Operator, Stage} from '../core/stage.js';
import {asciiJson} from '../util/ascii-json.js';
import {newConnectionId} from '../util/connection-id.js';
import type {TrafficLine} from './records.js';
import {tapAfter} from './tap-after.js';

/** Receives lines of raw traffic. See BackgroundLog. */
export type ByteSink = {readonly isOn: boolean; add(line: TrafficLine, origin?: MessageOrigin): void};

type RecordBytesOptions = {
	readonly log: ByteSink;
	/** The client's address, and the target as configured. */
	readonly client: string;
	readonly target: string;
	readonly listenPort: number;
};

/** A tap on a connection whose bytes are not parsed. */
export type ByteTap = {
	readonly stage: Stage;
	/** Has to be called when the connection has closed, with the error if it failed. */
	closed(error?: Error): void;
};

/**
 * Records a connection in the traffic log: its open event, each chunk once it was forwarded, and its close
 * event.
 */
export function recordBytes({log, client, target, listenPort}: RecordBytesOptions): ByteTap {
	const prefix = `","ConnID":"${newConnectionId()}",`;
	const endpoints = (from: string, to: string): string =>
		`"from":${asciiJson(from)},"to":${asciiJson(to)},"listen_port":${listenPort}`;
	const [fromClient, fromTarget] = [endpoints(client, target), endpoints(target, client)];
	const head = Buffer.from(`${prefix}"data":"`);
	/** The endpoints as seen from the side that closed first. */
	let firstToClose: string | undefined;

	const logEvent = (name: string, rest: string): void =>
		log.add({head: Buffer.from(`${prefix}"event":"${name}",${rest}}\n`)});
	const tap = (endpointsText: string): Operator => {
		const tail = Buffer.from(`",${endpointsText}}\n`);
		return tapAfter(
			({line: data, origin}) => {
				if (log.isOn) log.add({head, data, tail}, origin);
			},
			() => {
				firstToClose ??= endpointsText;
			},
		);
	};
	logEvent('open', fromClient);
	return {
		stage: {toUpstream: tap(fromClient), toClient: tap(fromTarget)},
		closed(error) {
			const reason = error ? `,"error":${asciiJson(error.message)}` : '';
			logEvent('close', `${firstToClose ?? fromTarget}${reason}`);
		},
	};
}
