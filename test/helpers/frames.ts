import {Buffer} from 'node:buffer';
import type {Message} from './bridge.js';

export const framed = (body: string | Uint8Array): Buffer =>
	Buffer.concat([Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`), Buffer.from(body)]);

/** Parses output that consists of frames only. */
export function unframed(output: Buffer): Message[] {
	const messages: Message[] = [];
	for (let rest = output; rest.length > 0; ) {
		const header = /^Content-Length: (\d+)\r\n\r\n/.exec(rest.toString('latin1', 0, 100));
		if (!header) throw new Error(`Not a frame: ${rest.toString('utf8', 0, 200)}`);
		const start = header[0].length;
		const end = start + Number(header[1]);
		messages.push(JSON.parse(rest.toString('utf8', start, end)) as Message);
		rest = rest.subarray(end);
	}
	return messages;
}
