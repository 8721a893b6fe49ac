import type {IncomingMessage} from 'node:http';
import {BodyBuffer} from './body-buffer.js';
import {countHeader} from './header-count.js';
import type {HttpError} from './http-error.js';

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"?)?$/i;

export function validateBodyHeaders(req: IncomingMessage, maxBytes: number): HttpError | undefined {
	const {headers} = req;
	const type = headers['content-type'] ?? '';
	const isJson = type === 'application/json' || JSON_TYPE.test(type);
	if (!isJson || countHeader(req, 'content-type') !== 1)
		return {status: 415, message: 'Unsupported Media Type: Content-Type has to be application/json'};
	const {'content-encoding': encoding = 'identity'} = headers;
	if (encoding !== 'identity')
		return {status: 415, message: 'Unsupported Media Type: compressed bodies are not supported'};
	if (Number(headers['content-length'] ?? 0) > maxBytes) return bodyTooLarge(maxBytes);
	return;
}

/** Accounts for the memory of one body. `evict` is called to stop reading it. */
export type BodyMemory = {reserve(bytes: number, evict: () => void): boolean; complete(): void};

const unlimitedMemory: BodyMemory = {reserve: () => true, complete: () => {}};

/** Reads the body of a request. Calls `done` with the body, or with the error that stopped reading. */
export function readBody(
	req: IncomingMessage,
	maxBytes: number,
	done: (body: Buffer | undefined, error?: HttpError) => void,
	memory: BodyMemory = unlimitedMemory,
): void {
	const body = new BodyBuffer(maxBytes);
	let isDone = false;
	const abort = (error: HttpError): void => {
		isDone = true;
		body.clear();
		req.pause();
		done(undefined, error);
	};
	const evict = (): void => abort(bodyMemoryExceeded);
	req.on('data', (chunk: Buffer) => {
		if (isDone) return;
		if (!body.add(chunk)) abort(bodyTooLarge(maxBytes));
		else if (body.length > chunk.length && !memory.reserve(chunk.length, evict)) evict();
	});
	req.on('end', () => {
		if (isDone) return;
		isDone = true;
		memory.complete();
		done(body.bytes());
	});
}

const bodyMemoryExceeded: HttpError = {
	status: 503,
	code: -31003,
	message: 'bridge has reached its memory limit for request bodies. Try again in a moment.',
	data: {source: 'bridge', kind: 'overloaded'},
	headers: {'retry-after': '1'},
	closesConnection: true,
};

const bodyTooLarge = (maxBytes: number): HttpError => ({
	status: 413,
	code: -31007,
	message: `The message is longer than the limit of ${maxBytes} bytes. Send less at a time, or raise limits.message.`,
	data: {source: 'bridge', kind: 'too_large', limit: maxBytes},
	closesConnection: true,
});

type AcceptedTypes = {readonly json: boolean; readonly events: boolean};

/** Returns the types of responses that a client accepts: JSON and event streams. */
export function parseAccept({headers: {accept}}: IncomingMessage): AcceptedTypes {
	// The value that nearly all clients send.
	if (accept === undefined || accept === 'application/json, text/event-stream') return allTypes;
	const types = accept
		.toLowerCase()
		.split(',')
		.map(part => part.split(';', 1)[0]?.trim());
	const has = (...names: string[]): boolean => names.some(name => types.includes(name));
	return {
		json: has('*/*', 'application/*', 'application/json'),
		events: has('*/*', 'text/*', 'text/event-stream'),
	};
}

/**
 * Whether Accept contains `text/event-stream`. A wildcard does not count: browsers send it to load images.
 */
export const acceptsEventStream = ({headers: {accept = ''}}: IncomingMessage): boolean =>
	/(?:^|,)\s*text\/event-stream\s*(?:[;,]|$)/i.test(accept);

const allTypes: AcceptedTypes = {json: true, events: true};
