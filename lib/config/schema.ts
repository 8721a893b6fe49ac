import * as z from 'zod';
import {
	type HandshakeVersion,
	handshakeVersions,
	isHandshakeVersion,
	isVersion,
	type Version,
	versions,
} from '../protocol/version.js';
import {parseDuration, parseRate, parseSize} from '../util/units.js';
import type {TrustedPacks} from './folder-digest.js';
import {isHeaderName, isHeaderValue, reservedHeaders} from './headers.js';
import type {ConfigLimits} from './limits.js';
import {type ListenAddress, parseListenAddress} from './listen-address.js';
import {areSecretsLongEnough, MIN_SECRET_LENGTH, NEW_SECRET_COMMAND} from './secret-length.js';
import {isPlainText, parseStoreUrl, parseUrl} from './urls.js';

/** How an upstream is spoken to. */
export type ServiceTransport = 'http' | 'sse' | 'ws' | 'stdio';

/** What the hub and `/mcp` show of many servers: one `run` tool, their tools, or both. */
export type ExposeMode = 'run' | 'tools' | 'both';

/** Names and values, of headers or of variables. */
export type StringRecord = {readonly [name: string]: string};

/** The whole configuration, resolved: defaults filled in, variables expanded, paths absolute. */
export type Config = {
	readonly listen: ListenAddress;
	/** What clients have to show; nobody is asked when there are none. */
	readonly tokens: readonly string[];
	/** Browser origins that are allowed beyond those of this machine; `*` stands for any port or subdomain. */
	readonly origins: readonly string[];
	readonly expose: ExposeMode;
	/** How long the hub waits for its servers before it tells what there is. */
	readonly startupTimeoutMs: number;
	/** How long one run of the hub's `run` tool may take. */
	readonly runTimeoutMs: number;
	readonly limits: ConfigLimits;
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
	readonly transport: ServiceTransport;
	/** Nobody named a transport, so http may fall back to sse. */
	readonly isTransportGuessed: boolean;
	/** Encrypted, unless it is on this machine or `insecure`. */
	readonly url: URL | undefined;
	readonly command: string | undefined;
	readonly args: readonly string[];
	readonly env: StringRecord;
	readonly cwd: string | undefined;
	readonly headers: StringRecord;
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
const parsedBy = <T>(expected: string, parse: (input: unknown) => T | undefined) =>
	z.unknown().transform((input, context): T => {
		const value = parse(input);
		if (value !== undefined) return value;
		context.addIssue({code: 'custom', message: expected});
		return z.NEVER;
	});

const textMatching = (expected: string, matches: (text: string) => boolean) =>
	parsedBy(expected, input => (isPlainText(input) && matches(input) ? input : undefined));

const nonEmptyText = textMatching('text', text => text !== '');
/** Whoever leaves out the quotes around 1.10 means that, and not 1.1. */
const quotedText = textMatching('text; put quotes around numbers, true and false', () => true);
const oneOfTexts = <const T extends string>(...choices: T[]) =>
	parsedBy(`one of ${choices.join(', ')}`, input => choices.find(choice => choice === input));

/** Variables only hold text, so the text of a truth value or a number is as good as the value. */
const booleanText = parsedBy('true or false', given => new Map<unknown, boolean>(booleanTexts).get(given));
const booleanTexts = [
	[true, true],
	['true', true],
	[false, false],
	['false', false],
] as const;

const asText = (input: unknown): string =>
	typeof input === 'number' || typeof input === 'string' ? String(input) : '';
const sizeUpTo = (maximum: string, limit: number) =>
	parsedBy(`a size of at least 1KiB and at most ${maximum}`, input => {
		const bytes = parseSize(asText(input));
		return bytes !== undefined && bytes >= 2 ** 10 && bytes <= limit ? bytes : undefined;
	});
const size = sizeUpTo('1GiB, like 64MiB', 2 ** 30);
const callSize = sizeUpTo('16MiB, like 4MiB', 2 ** 24);
const totalSize = sizeUpTo('64GiB, like 256MiB', 2 ** 36);
const duration = parsedBy('a time of at most 24 days, like 90s or 30m; a number alone is seconds', given =>
	parseDuration(asText(given)),
);
const startup = parsedBy('a time of at most 10m, like 30s', given => {
	const ms = parseDuration(asText(given));
	return ms !== undefined && ms <= 600_000 ? ms : undefined;
});
const runTime = parsedBy('a time from 1s to 1h, like 90s', given => {
	const ms = parseDuration(asText(given));
	return ms !== undefined && ms >= 1000 && ms <= 3_600_000 ? ms : undefined;
});
const count = parsedBy('a whole number from 1 to 1000000', given => {
	const number = /^\d{1,7}$/.test(asText(given)) ? Number(given) : 0;
	return number >= 1 && number <= 1e6 ? number : undefined;
});

const quota = parsedBy('a whole number up to 1000000; 0 for no quota', given =>
	/^\d{1,7}$/.test(asText(given)) && Number(given) <= 1e6 ? Number(given) : undefined,
);

const rate = parsedBy(
	'so many requests in a second, a minute or an hour, like 10/s, 600/m or 5000/h',
	given => parseRate(asText(given)),
);

const urlWith = (expected: string, ...protocols: string[]) =>
	parsedBy(expected, input => parseUrl(input, protocols));

const headerName = textMatching('that of a header that can be set', name => {
	return isHeaderName(name) && !reservedHeaders.has(name.toLowerCase());
});
const headerValue = textMatching('the value of a header: one line of Latin-1 text, in quotes', isHeaderValue);
const variableName = textMatching('that of a variable', name => /^[^=]+$/.test(name));
const list = <T extends z.ZodType>(item: T) => z.array(item, {error: 'a list'});

const limitsSchema = z.strictObject(
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
export const fileSchema = z.strictObject({
	listen: parsedBy(
		'an address and a port, like 127.0.0.1:7411 or [::1]:0, or a socket with its whole path, like unix:/run/bridge.sock',
		parseListenAddress,
	).optional(),
	tokens: list(
		textMatching(
			`a token: ${MIN_SECRET_LENGTH} characters or more without spaces, as ${NEW_SECRET_COMMAND} prints`,
			token => /^[\x21-\x7e]{16,}$/.test(token),
		),
	).optional(),
	origins: list(
		textMatching('an origin, like https://example.com or http://localhost:*', text => ORIGIN.test(text)),
	).optional(),
	expose: oneOfTexts('run', 'tools', 'both').optional(),
	startupTimeout: startup.optional(),
	runTimeout: runTime.optional(),
	limits: limitsSchema.optional(),
	packs: nonEmptyText.optional(),
	secret: textMatching(
		`text: each line with ${MIN_SECRET_LENGTH} characters or more, as ${NEW_SECRET_COMMAND} prints`,
		text => text !== '' && areSecretsLongEnough(text),
	).optional(),
	advertise: urlWith('a URL that begins with http:// or https://', 'http:', 'https:').optional(),
	store: parsedBy(
		'a URL that begins with redis:// or rediss://, its user and password encoded as in URLs',
		parseStoreUrl,
	).optional(),
});

/** Other names of transports, in the files of other programs. */
export const transportAliases = new Map<unknown, ServiceTransport>([
	['http', 'http'],
	['streamable-http', 'http'],
	['streamableHttp', 'http'],
	['sse', 'sse'],
	['ws', 'ws'],
	['websocket', 'ws'],
	['stdio', 'stdio'],
]);

/** What a server may be described with. */
export const serviceSchema = z.strictObject({
	url: urlWith(
		'a URL that begins with http://, https://, ws:// or wss://',
		'http:',
		'https:',
		'ws:',
		'wss:',
	).optional(),
	transport: oneOfTexts('http', 'sse', 'ws', 'stdio').optional(),
	type: parsedBy('one of stdio, http, streamable-http, sse, ws', given =>
		transportAliases.get(given),
	).optional(),
	command: nonEmptyText.optional(),
	args: list(quotedText).optional(),
	env: z.record(variableName, quotedText, {error: 'names and values'}).optional(),
	cwd: nonEmptyText.optional(),
	headers: z.record(headerName, headerValue, {error: 'names and values'}).optional(),
	accept: headerValue.optional(),
	contentType: headerValue.optional(),
	targetVersion: parsedBy(`one of ${versions.join(', ')}`, given =>
		isVersion(given) ? given : undefined,
	).optional(),
	clientVersion: parsedBy(`one of ${handshakeVersions.join(', ')}`, given =>
		isHandshakeVersion(given) ? given : undefined,
	).optional(),
	cacheTools: booleanText.optional(),
	timeout: duration.optional(),
	enabled: booleanText.optional(),
	disabled: booleanText.optional(),
	insecure: booleanText.optional(),
	shared: booleanText.optional(),
	strict: booleanText.optional(),
	passAuthorization: booleanText.optional(),
});

export type FileSettings = z.output<typeof fileSchema>;
export type ServiceSettings = z.output<typeof serviceSchema>;

/** The keys that are known beside each other, by the path of what they are in, without the servers' names. */
export const knownKeys = {
	file: [...Object.keys(fileSchema.shape), 'servers', 'mcpServers'],
	limits: Object.keys(limitsSchema.shape),
	service: Object.keys(serviceSchema.shape),
} as const;

/** The keys that only a file of bridge has beside its servers. */
export const bridgeKeys: ReadonlySet<string> = new Set(Object.keys(fileSchema.shape));
