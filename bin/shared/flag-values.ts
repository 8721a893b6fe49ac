import process from 'node:process';
import {isHeaderName, isHeaderValue} from '../../lib/config/headers.js';
import type {Headers} from '../../lib/core/envelope.js';
import {BridgeError} from '../../lib/core/errors.js';
import type {Environment} from '../../lib/transports/process/environment.js';
import {isLoopback} from '../../lib/util/loopback.js';

/** Parses a server URL. URLs of other machines are switched to encryption, except raw TCP. */
export function parseUrlFlag(text: string | undefined, flag: string, isRaw = false): URL | undefined {
	if (text === undefined) return;
	if (isRaw) return parseTcpUrl(text);
	if (!URL.canParse(text))
		throw usageError(
			`--${flag} ${text} is not a valid URL.`,
			`Write a full URL: --${flag} https://example.com/mcp`,
		);
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

/** Parses a TCP address for raw bytes. */
function parseTcpUrl(text: string): URL {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	if (url?.protocol === 'tcp:' && url.hostname !== '' && url.port !== '') return url;
	throw usageError(`--url ${text} is not a TCP address.`, 'Write --url tcp://HOST:PORT.');
}

/** Parses headers in the form `NAME: VALUE`, like curl. */
export function parseHeaderFlags(values: readonly string[]): Headers {
	const headers: Record<string, string> = {};
	for (const text of values) {
		const colon = text.indexOf(':');
		const name = text.slice(0, Math.max(0, colon));
		const value = text.slice(colon + 1).trimStart();
		if (!isHeaderName(name) || !isHeaderValue(value))
			throw usageError(`--header ${name || text} is not a valid header.`, 'Write --header "NAME: VALUE".');
		headers[name.toLowerCase()] = value;
	}
	return headers;
}

/** Parses variables. `NAME=VALUE` sets a variable, `NAME` alone passes on bridge's own. */
export function parseEnvFlags(values: readonly string[]): Environment {
	const environment: Record<string, string> = {};
	for (const text of values) {
		const [name = ''] = text.split('=', 1);
		const value = text.includes('=') ? text.slice(name.length + 1) : process.env[name];
		if (name === '')
			throw usageError('--env has a value without a name.', 'Write --env NAME=VALUE, or --env NAME.');
		if (value === undefined)
			throw usageError(
				`--env ${name}: the variable is not set and cannot be passed on.`,
				`Set it, or write --env ${name}=VALUE.`,
			);
		environment[name] = value;
	}
	return environment;
}

/** The error for invalid command-line usage. */
export const usageError = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_CONFIG_INVALID', message, remedy);

/** The error for a URL together with a command, for commands that take one of them. */
export const twoServersError = (): BridgeError =>
	usageError('--url and a command exclude each other.', 'Use one server: --url URL, or -- COMMAND.');
