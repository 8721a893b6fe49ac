import process from 'node:process';
import {isHeaderName, isHeaderValue} from '../../lib/config/headers.js';
import type {Headers} from '../../lib/core/envelope.js';
import {BridgeError} from '../../lib/core/errors.js';
import type {Environment} from '../../lib/transports/process/environment.js';
import {isLoopback} from '../../lib/util/loopback.js';

/** Where a server is. What goes beyond this machine is encrypted, unless it is a bare port. */
export function parseUrlFlag(text: string | undefined, flag: string, isRaw = false): URL | undefined {
	if (text === undefined) return;
	if (isRaw) return parseTcpUrl(text);
	if (!URL.canParse(text))
		throw usageError(`--${flag} ${text} is no URL.`, `Write it whole: --${flag} https://example.com/mcp`);
	const url = new URL(text);
	if (!['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol))
		throw usageError(
			`--${flag} ${text} is not http, https, ws or wss.`,
			/^[\w.-]+:\d/.test(text)
				? `Write: --${flag} http://${text}`
				: 'For a command, write: bridge -- COMMAND',
		);
	if (!isLoopback(url.hostname)) url.protocol = url.protocol.startsWith('ws') ? 'wss:' : 'https:';
	return url;
}

/** A port that takes any bytes. */
function parseTcpUrl(text: string): URL {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	if (url?.protocol === 'tcp:' && url.hostname !== '' && url.port !== '') return url;
	throw usageError(`--url ${text} is no place for raw bytes.`, 'Write --url tcp://HOST:PORT.');
}

/** `NAME: VALUE`, as curl takes it. */
export function parseHeaderFlags(values: readonly string[]): Headers {
	const headers: Record<string, string> = {};
	for (const text of values) {
		const colon = text.indexOf(':');
		const name = text.slice(0, Math.max(0, colon));
		const value = text.slice(colon + 1).trimStart();
		if (!isHeaderName(name) || !isHeaderValue(value))
			throw usageError(`--header ${name || text} is no header.`, 'Write --header "NAME: VALUE".');
		headers[name.toLowerCase()] = value;
	}
	return headers;
}

/** `NAME=VALUE` sets a variable, `NAME` alone passes on the one that bridge has. */
export function parseEnvFlags(values: readonly string[]): Environment {
	const environment: Record<string, string> = {};
	for (const text of values) {
		const [name = ''] = text.split('=', 1);
		const value = text.includes('=') ? text.slice(name.length + 1) : process.env[name];
		if (name === '')
			throw usageError('--env has a value without a name.', 'Write --env NAME=VALUE, or --env NAME.');
		if (value === undefined)
			throw usageError(
				`--env ${name}: there is no such variable to pass on.`,
				`Set it, or write --env ${name}=VALUE.`,
			);
		environment[name] = value;
	}
	return environment;
}

/** A flag that cannot be meant as it is. */
export const usageError = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_CONFIG_INVALID', message, remedy);

/** The error of commands that take a URL or a command, and got both. */
export const twoServersError = (): BridgeError =>
	usageError('There is a --url and a command.', 'Name one server: --url URL, or -- COMMAND.');
