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

/** The transport that connects to an upstream. */
export type ServiceTransport = 'http' | 'sse' | 'ws' | 'stdio';

/** What the hub and `/mcp` expose: one `run` tool, the tools of all servers, or both. */
export type ExposeMode = 'run' | 'tools' | 'both';

/** Names and values of headers or variables. */
export type StringRecord = {readonly [name: string]: string};

/** The whole configuration, resolved: defaults filled in, variables expanded, paths absolute. */
export type Config = {
	readonly listen: ListenAddress;
	/** The tokens that clients can authenticate with. Without any, no authentication is required. */
	readonly tokens: readonly string[];
	/** Allowed browser origins beyond those of this machine. `*` matches any port or subdomain. */
	readonly origins: readonly string[];
	readonly expose: ExposeMode;
	/** The time the hub waits for its servers before it returns a list of tools. */
	readonly startupTimeoutMs: number;
	/** The time limit of one call of the hub's `run` tool. */
	readonly runTimeoutMs: number;
	readonly limits: ConfigLimits;
	readonly packs: string | undefined;
	/** The trusted content of the packs folder; undefined if the file needs no trust. */
	readonly trustedPacks?: TrustedPacks;
	readonly secret: string | undefined;
	readonly advertise: URL | undefined;
	readonly store: URL | undefined;
	readonly services: ReadonlyMap<string, ServiceConfig>;
};

/** An upstream as configured. `url` is set for http, sse and ws, `command` for stdio. */
export type ServiceConfig = {
	readonly name: string;
	readonly transport: ServiceTransport;
	/** Whether no transport was configured, so that http may fall back to sse. */
	readonly isTransportGuessed: boolean;
	/** Always encrypted, except for this machine or with `insecure`. */
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
	/** The time limit of one request; 0 for no limit. */
	readonly timeoutMs: number;
	/** The setting that the limit comes from, if it is not the service's `timeout`. */
	readonly timeoutSetting?: string;
	readonly enabled: boolean;
	readonly insecure: boolean;
	readonly shared: boolean;
	readonly strict: boolean;
	readonly passAuthorization: boolean;
};

/** Accepts the values that `parse` returns a result for. The error names the expected value. */
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
/** Rejects unquoted numbers, since YAML would turn 1.10 into 1.1. */
const quotedText = textMatching('text; put quotes around numbers, true and false', () => true);
const oneOfTexts = <const T extends string>(...choices: T[]) =>
	parsedBy(`one of ${choices.join(', ')}`, input => choices.find(choice => choice === input));

/** Also accepts strings, since the values of environment variables are strings. */
const booleanText = parsedBy('true or false', input => new Map<unknown, boolean>(booleanTexts).get(input));
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
const duration = parsedBy('a time of at most 24 days, like 90s or 30m; a number alone is seconds', input =>
	parseDuration(asText(input)),
);
const startup = parsedBy('a time of at most 10m, like 30s', input => {
	const ms = parseDuration(asText(input));
	return ms !== undefined && ms <= 600_000 ? ms : undefined;
});
const runTime = parsedBy('a time from 1s to 1h, like 90s', input => {
	const ms = parseDuration(asText(input));
	return ms !== undefined && ms >= 1000 && ms <= 3_600_000 ? ms : undefined;
});
const count = parsedBy('a whole number from 1 to 1000000', input => {
	const number = /^\d{1,7}$/.test(asText(input)) ? Number(input) : 0;
	return number >= 1 && number <= 1e6 ? number : undefined;
});

const quota = parsedBy('a whole number up to 1000000; 0 for no quota', input =>
	/^\d{1,7}$/.test(asText(input)) && Number(input) <= 1e6 ? Number(input) : undefined,
);

const rate = parsedBy('a number of requests per second, minute or hour, like 10/s, 600/m or 5000/h', input =>
	parseRate(asText(input)),
);

const urlWith = (expected: string, ...protocols: string[]) =>
	parsedBy(expected, input => parseUrl(input, protocols));

const headerName = textMatching('the name of a header that can be set', name => {
	return isHeaderName(name) && !reservedHeaders.has(name.toLowerCase());
});
const headerValue = textMatching('the value of a header: one line of Latin-1 text, in quotes', isHeaderValue);
const variableName = textMatching('a valid variable name', name => /^[^=]+$/.test(name));
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

/** The settings of a file except its servers. */
export const fileSchema = z.strictObject({
	listen: parsedBy(
		'an address and a port, like 127.0.0.1:7411 or [::1]:0, or a socket path, like unix:/run/bridge.sock',
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

/** Names of transports, including aliases that other programs use. */
export const transportAliases = new Map<unknown, ServiceTransport>([
	['http', 'http'],
	['streamable-http', 'http'],
	['streamableHttp', 'http'],
	['sse', 'sse'],
	['ws', 'ws'],
	['websocket', 'ws'],
	['stdio', 'stdio'],
]);

/** The settings of one server. */
export const serviceSchema = z.strictObject({
	url: urlWith(
		'a URL that begins with http://, https://, ws:// or wss://',
		'http:',
		'https:',
		'ws:',
		'wss:',
	).optional(),
	transport: oneOfTexts('http', 'sse', 'ws', 'stdio').optional(),
	type: parsedBy('one of stdio, http, streamable-http, sse, ws', input =>
		transportAliases.get(input),
	).optional(),
	command: nonEmptyText.optional(),
	args: list(quotedText).optional(),
	env: z.record(variableName, quotedText, {error: 'names and values'}).optional(),
	cwd: nonEmptyText.optional(),
	headers: z.record(headerName, headerValue, {error: 'names and values'}).optional(),
	accept: headerValue.optional(),
	contentType: headerValue.optional(),
	targetVersion: parsedBy(`one of ${versions.join(', ')}`, input =>
		isVersion(input) ? input : undefined,
	).optional(),
	clientVersion: parsedBy(`one of ${handshakeVersions.join(', ')}`, input =>
		isHandshakeVersion(input) ? input : undefined,
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

/** The valid keys of each section of a file. */
export const knownKeys = {
	file: [...Object.keys(fileSchema.shape), 'servers', 'mcpServers'],
	limits: Object.keys(limitsSchema.shape),
	service: Object.keys(serviceSchema.shape),
} as const;

/** The top-level keys that only bridge files have. */
export const bridgeKeys: ReadonlySet<string> = new Set(Object.keys(fileSchema.shape));
