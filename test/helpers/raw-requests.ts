import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {ExecutionContext} from 'ava';
import {opening} from './bridge.js';
import type {RunningGateway} from './gateway.js';
import {newFolder} from './program.js';

export const initialize = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'initialize', params: opening});

/** The headers of a valid POST, except for its length and its host. */
export const common = ['Content-Type: application/json', 'Accept: application/json, text/event-stream'];

/** The bytes of a request. An empty `host` omits the Host header. */
export function request(
	line: string,
	headers: readonly string[] = [],
	body = '',
	host: string | undefined = 'Host: localhost',
): string {
	const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
	const all = [...(host === '' ? [] : [host]), ...headers, ...length, 'Connection: close'];
	return `${line} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`;
}

/** The bytes of a POST that starts a session, with additional headers. */
export const post = (headers: readonly string[] = [], service = 'puppet'): string =>
	request(`POST /mcp/${service}`, [...common, ...headers], initialize);

export const statusesIn = (text: string): number[] =>
	[...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

/** The status of the only response; 0 if there is none or more than one. */
export const statusOf = (text: string): number => {
	const [status = 0, ...others] = statusesIn(text);
	return others.length > 0 ? 0 : status;
};

export const bodyIn = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4);

export async function sessionsOf(gateway: RunningGateway, service: string): Promise<number> {
	return JSON.parse((await gateway.fetch('/status')).text).services[service].sessions;
}

/** A configuration file that is removed after the test. */
export async function configFile(t: ExecutionContext, text: string): Promise<string> {
	const file = join(await newFolder(t), 'bridge.json');
	await writeFile(file, text);
	return file;
}
