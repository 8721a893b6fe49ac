import * as z from 'zod';
import {
	type HandshakeVersion,
	handshakeVersions,
	isHandshakeVersion,
	isVersion,
	type Version,
	versions,
} from '../protocol/version.js';
import {durationOf, rateOf, sizeOf} from '../units.js';
import type {TrustedPacks} from './folder-digest.js';
import {isHeaderName, isHeaderValue, ownHeaders} from './headers.js';
import type {Limits} from './limits.js';
import {type Listen, listenOf} from './listen.js';
import {areLong, LEAST_SECRET, NEW_SECRET} from './secret-length.js';
import {isText, storeOf, urlOf} from './urls.js';

/** How an upstream is spoken to. */
export type Transport = 'http' | 'sse' | 'ws' | 'stdio';

/** What the hub and `/mcp` show of many servers: one `run` tool, their tools, or both. */
export type Expose = 'run' | 'tools' | 'both';

/** Names and values, of headers or of variables. */
export type Named = {readonly [name: string]: string};

/** The whole configuration, resolved: defaults filled in, variables expanded, paths absolute. */
export type Config = {
	readonly listen: Listen;
	/** What clients have to show; nobody is asked when there are none. */
	readonly tokens: readonly string[];
	/** Browser origins that are allowed beyond those of this machine; `*` stands for any port or subdomain. */
	readonly origins: readonly string[];
	readonly expose: Expose;
	/** How long the hub waits for its servers before it tells what there is. */
	readonly startupTimeoutMs: number;
	/** How long one run of the hub's `run` tool may take. */
	readonly runTimeoutMs: number;
	readonly limits: Limits;
	readonly packs: string | undefined;
	/** The content that the packs must have; absent where the file needs no trust. */
	readonly trustedPacks?: TrustedPacks;
	readonly secret: string | undefined;
	readonly advertise: URL | undefined;
	readonly store: URL | undefined;
	readonly services: ReadonlyMap<string, ServiceConfig>;
};

/** One upstream: `url` where the transport is http, sse or ws, and `command` where it is stdio. */
export type ServiceConfig = {
	readonly name: string;
	readonly transport: Transport;
	/** Nobody named a transport, so http may fall back to sse. */
	readonly isTransportGuessed: boolean;
	/** Encrypted, unless it is on this machine or `insecure`. */
	readonly url: URL | undefined;
	readonly command: string | undefined;
	readonly args: readonly string[];
	readonly env: Named;
	readonly cwd: string | undefined;
	readonly headers: Named;
	readonly accept: string;
	readonly contentType: string;
	readonly targetVersion: Version | undefined;
	readonly clientVersion: HandshakeVersion | undefined;
	readonly cacheTools: boolean;
	/** For one request; 0 for no limit. */
	readonly timeoutMs: number;
	/** What sets that, where it is not the key of the service. */
	readonly timeoutSetting?: string;
	readonly enabled: boolean;
	readonly insecure: boolean;
	readonly shared: boolean;
	readonly strict: boolean;
	readonly passAuthorization: boolean;
};

/** A value that `read` understands; what it does not is a mistake, which says what was expected. */
const reads = <T>(expected: string, read: (given: unknown) => T | undefined) =>
	z.unknown().transform((given, context): T => {
		const value = read(given);
		if (value !== undefined) return value;
		context.addIssue({code: 'custom', message: expected});
		return z.NEVER;
	});

const textThat = (expected: string, fits: (text: string) => boolean) =>
	reads(expected, given => (isText(given) && fits(given) ? given : undefined));

const word = textThat('text', text => text !== '');
/** Whoever leaves out the quotes around 1.10 means that, and not 1.1. */
const quoted = textThat('text; put quotes around numbers, true and false', () => true);
const among = <const T extends string>(...choices: T[]) =>
	reads(`one of ${choices.join(', ')}`, given => choices.find(choice => choice === given));

/** Variables only hold text, so the text of a truth value or a number is as good as the value. */
const truth = reads('true or false', given => new Map<unknown, boolean>(truths).get(given));
const truths = [
	[true, true],
	['true', true],
	[false, false],
	['false', false],
] as const;

const asText = (given: unknown): string =>
	typeof given === 'number' || typeof given === 'string' ? String(given) : '';
const sizeTo = (most: string, limit: number) =>
	reads(`a size of at least 1KiB and at most ${most}`, given => {
		const bytes = sizeOf(asText(given));
		return bytes !== undefined && bytes >= 2 ** 10 && bytes <= limit ? bytes : undefined;
	});
const size = sizeTo('1GiB, like 64MiB', 2 ** 30);
const callSize = sizeTo('16MiB, like 4MiB', 2 ** 24);
const totalSize = sizeTo('64GiB, like 256MiB', 2 ** 36);
const duration = reads('a time of at most 24 days, like 90s or 30m; a number alone is seconds', given =>
	durationOf(asText(given)),
);
const startup = reads('a time of at most 10m, like 30s', given => {
	const ms = durationOf(asText(given));
	return ms !== undefined && ms <= 600_000 ? ms : undefined;
});
const runTime = reads('a time from 1s to 1h, like 90s', given => {
	const ms = durationOf(asText(given));
	return ms !== undefined && ms >= 1000 && ms <= 3_600_000 ? ms : undefined;
});
const count = reads('a whole number from 1 to 1000000', given => {
	const number = /^\d{1,7}$/.test(asText(given)) ? Number(given) : 0;
	return number >= 1 && number <= 1e6 ? number : undefined;
});

const quota = reads('a whole number up to 1000000; 0 for no quota', given =>
	/^\d{1,7}$/.test(asText(given)) && Number(given) <= 1e6 ? Number(given) : undefined,
);

const rate = reads('so many requests in a second, a minute or an hour, like 10/s, 600/m or 5000/h', given =>
	rateOf(asText(given)),
);

const urlWith = (expected: string, ...protocols: string[]) =>
	reads(expected, given => urlOf(given, protocols));

const headerName = textThat('that of a header that can be set', name => {
	return isHeaderName(name) && !ownHeaders.has(name.toLowerCase());
});
const headerValue = textThat('the value of a header: one line of Latin-1 text, in quotes', isHeaderValue);
const variableName = textThat('that of a variable', name => /^[^=]+$/.test(name));
const list = <T extends z.ZodType>(item: T) => z.array(item, {error: 'a list'});

const limitsShape = z.strictObject(
	{
		message: size.optional(),
		sessions: count.optional(),
		idle: duration.optional(),
		unread: totalSize.optional(),
		unreadFor: duration.optional(),
		kept: totalSize.optional(),
		runCall: callSize.optional(),
		rate: rate.optional(),
		clientSessions: quota.optional(),
		clientRuns: quota.optional(),
		clientRequests: quota.optional(),
	},
	{error: 'names of limits, like sessions, and their values'},
);

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(\*\.)?([a-z0-9._-]+|\[[0-9a-f:]+\])(:(\d{1,5}|\*))?$/i;

/** What a file may hold beside its servers. */
export const fileShape = z.strictObject({
	listen: reads(
		'an address and a port, like 127.0.0.1:7411 or [::1]:0, or a socket with its whole path, like unix:/run/bridge.sock',
		listenOf,
	).optional(),
	tokens: list(
		textThat(`a token: ${LEAST_SECRET} characters or more without spaces, as ${NEW_SECRET} prints`, token =>
			/^[\x21-\x7e]{16,}$/.test(token),
		),
	).optional(),
	origins: list(
		textThat('an origin, like https://example.com or http://localhost:*', text => ORIGIN.test(text)),
	).optional(),
	expose: among('run', 'tools', 'both').optional(),
	startupTimeout: startup.optional(),
	runTimeout: runTime.optional(),
	limits: limitsShape.optional(),
	packs: word.optional(),
	secret: textThat(
		`text: each line with ${LEAST_SECRET} characters or more, as ${NEW_SECRET} prints`,
		text => text !== '' && areLong(text),
	).optional(),
	advertise: urlWith('a URL that begins with http:// or https://', 'http:', 'https:').optional(),
	store: reads(
		'a URL that begins with redis:// or rediss://, its user and password encoded as in URLs',
		storeOf,
	).optional(),
});

/** Other names of transports, in the files of other programs. */
export const transportNames = new Map<unknown, Transport>([
	['http', 'http'],
	['streamable-http', 'http'],
	['streamableHttp', 'http'],
	['sse', 'sse'],
	['ws', 'ws'],
	['websocket', 'ws'],
	['stdio', 'stdio'],
]);

/** What a server may be described with. */
export const serviceShape = z.strictObject({
	url: urlWith(
		'a URL that begins with http://, https://, ws:// or wss://',
		'http:',
		'https:',
		'ws:',
		'wss:',
	).optional(),
	transport: among('http', 'sse', 'ws', 'stdio').optional(),
	type: reads('one of stdio, http, streamable-http, sse, ws', given => transportNames.get(given)).optional(),
	command: word.optional(),
	args: list(quoted).optional(),
	env: z.record(variableName, quoted, {error: 'names and values'}).optional(),
	cwd: word.optional(),
	headers: z.record(headerName, headerValue, {error: 'names and values'}).optional(),
	accept: headerValue.optional(),
	contentType: headerValue.optional(),
	targetVersion: reads(`one of ${versions.join(', ')}`, given =>
		isVersion(given) ? given : undefined,
	).optional(),
	clientVersion: reads(`one of ${handshakeVersions.join(', ')}`, given =>
		isHandshakeVersion(given) ? given : undefined,
	).optional(),
	cacheTools: truth.optional(),
	timeout: duration.optional(),
	enabled: truth.optional(),
	disabled: truth.optional(),
	insecure: truth.optional(),
	shared: truth.optional(),
	strict: truth.optional(),
	passAuthorization: truth.optional(),
});

export type GivenFile = z.output<typeof fileShape>;
export type GivenService = z.output<typeof serviceShape>;

/** The keys that are known beside each other, by the path of what they are in, without the servers' names. */
export const knownKeys = {
	file: [...Object.keys(fileShape.shape), 'servers', 'mcpServers'],
	limits: Object.keys(limitsShape.shape),
	service: Object.keys(serviceShape.shape),
} as const;

/** The keys that only a file of bridge has beside its servers. */
export const ownKeys: ReadonlySet<string> = new Set(Object.keys(fileShape.shape));
