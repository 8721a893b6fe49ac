import type {MessageOrigin} from '../core/envelope.js';
import type {Operator, Stage} from '../core/stage.js';
import {asciiJson} from '../util/ascii-json.js';
import {newConnectionId} from '../util/connection-id.js';
import type {TrafficLine} from './records.js';
import {tapAfter} from './tap-after.js';

/** Where lines of raw traffic go: see BackgroundLog. */
export type ByteSink = {readonly isOn: boolean; add(line: TrafficLine, origin?: MessageOrigin): void};

type RecordBytesOptions = {
	readonly log: ByteSink;
	/** The client's address, and the target as it was named. */
	readonly client: string;
	readonly target: string;
	/** The port that the client has connected to. */
	readonly listenPort: number;
};

/** A tap on a connection whose bytes mean nothing here. */
export type ByteTap = {
	readonly stage: Stage;
	/** To be called when the connection is over, with why it failed if it did. */
	closed(error?: Error): void;
};

/** Writes what passes into the traffic log, after it went its way: that a connection opens, each chunk, and that it closes. */
export function recordBytes({log, client, target, listenPort}: RecordBytesOptions): ByteTap {
	const prefix = `","ConnID":"${newConnectionId()}",`;
	const endpoints = (from: string, to: string): string =>
		`"from":${asciiJson(from)},"to":${asciiJson(to)},"listen_port":${listenPort}`;
	const [fromClient, fromTarget] = [endpoints(client, target), endpoints(target, client)];
	const head = Buffer.from(`${prefix}"data":"`);
	/** Who was the first to close its end. */
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
