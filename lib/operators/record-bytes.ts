import type {Origin} from '../envelope.js';
import type {Operator, Stage} from '../stage.js';
import {asciiJson} from '../store/ascii-json.js';
import {connId} from '../store/conn-id.js';
import type {Line} from '../store/records.js';
import {followed} from './followed.js';

/** Where lines of raw traffic go: see BackgroundLog. */
export type ByteSink = {readonly isOn: boolean; add(line: Line, origin?: Origin): void};

export type RecordBytesOptions = {
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
	const prefix = `","ConnID":"${connId()}",`;
	const ends = (from: string, to: string): string =>
		`"from":${asciiJson(from)},"to":${asciiJson(to)},"listen_port":${listenPort}`;
	const [fromClient, fromTarget] = [ends(client, target), ends(target, client)];
	const head = Buffer.from(`${prefix}"data":"`);
	/** Who was the first to close its end. */
	let first: string | undefined;

	const event = (name: string, rest: string): void =>
		log.add({head: Buffer.from(`${prefix}"event":"${name}",${rest}}\n`)});
	const direction = (who: string): Operator => {
		const tail = Buffer.from(`",${who}}\n`);
		return followed(
			({line: data, origin}) => {
				if (log.isOn) log.add({head, data, tail}, origin);
			},
			() => {
				first ??= who;
			},
		);
	};
	event('open', fromClient);
	return {
		stage: {toUpstream: direction(fromClient), toClient: direction(fromTarget)},
		closed(error) {
			const reason = error ? `,"error":${asciiJson(error.message)}` : '';
			event('close', `${first ?? fromTarget}${reason}`);
		},
	};
}
