import {resolve as resolvePath} from 'node:path';
import {isLoopback} from '../util/loopback.js';
import {printable} from '../util/printable.js';
import type {ConfigIssue, ConfigPath} from './issues.js';
import {
	knownKeys,
	type ServiceConfig,
	type ServiceSettings,
	type ServiceTransport,
	serviceSchema,
	transportAliases,
} from './schema.js';
import {isObjectOrArray, validate} from './validate.js';

type ResolvedService = {
	/** Undefined if there are issues. */
	readonly service: ServiceConfig | undefined;
	readonly issues: readonly ConfigIssue[];
	readonly warnings: readonly ConfigIssue[];
};

/** Keys of other programs. They are ignored. */
const foreignKeys: ReadonlySet<string> = new Set([
	'alwaysAllow',
	'autoApprove',
	'description',
	'dev',
	'gallery',
	'version',
]);
const commandKeys = ['args', 'env', 'cwd', 'shared'] as const;
const urlKeys = ['headers', 'accept', 'contentType', 'insecure', 'passAuthorization'] as const;

/** Builds a service from its entry in a file in `folder`. */
export function resolveService(
	name: string,
	input: unknown,
	{path, folder}: {readonly path: ConfigPath; readonly folder: string},
): ResolvedService {
	if (!isObjectOrArray(input) || Array.isArray(input))
		return {service: undefined, issues: [{path, text: 'Expected a url or a command.'}], warnings: []};
	const entries = Object.entries(input);
	const known = Object.fromEntries(entries.filter(([key]) => !foreignKeys.has(key)));
	const {value, issues: found} = validate(serviceSchema, known, {path, keysAt: () => knownKeys.service});
	const issueAt = (key: string, text: string): ConfigIssue => ({path: [...path, key], text});
	const contradictions = findContradictions(known).map(([key, text]) =>
		key === '' ? {path, text} : issueAt(key, text),
	);
	const issues = [...found, ...contradictions];
	const warnings = entries
		.filter(([key]) => foreignKeys.has(key))
		.map(([key]) => issueAt(key, 'bridge does not use this key and ignores it.'));
	if (!value || issues.length > 0) return {service: undefined, issues, warnings};
	const service = createService(name, value, folder);
	const unusedKeys = service.transport === 'stdio' ? urlKeys : commandKeys;
	const kind = service.transport === 'stdio' ? 'command' : 'url';
	for (const key of unusedKeys)
		if (value[key] !== undefined && !isDefaultValue(key, value[key]))
			warnings.push(issueAt(key, `This key does not apply to a server with a ${kind}.`));
	if (service.url && service.url.protocol !== value.url?.protocol)
		warnings.push(issueAt('url', UPGRADED_TEXT.replace('SCHEME', service.url.protocol)));
	return {service, issues, warnings};
}

const UPGRADED_TEXT =
	'It is used as SCHEME//, since traffic to other machines must be encrypted. Set insecure: true to send it unencrypted.';

/** Returns whether a value is the default of its key. */
const isDefaultValue = (key: string, value: unknown): boolean =>
	isObjectOrArray(value) ? Object.keys(value).length === 0 : value === (key === 'passAuthorization');

type ServiceInput = {readonly [key: string]: unknown};
type Contradiction = readonly [key: string, text: string];

/**
 * Finds settings that exclude each other. Checks the raw input, so that they are reported along with invalid
 * values.
 */
function findContradictions(input: ServiceInput): Contradiction[] {
	const {url, command, enabled, disabled} = input;
	const contradictions: Contradiction[] = transportContradictions(input);
	if (url === undefined && command === undefined) contradictions.push(['', 'Expected a url or a command.']);
	if (url !== undefined && command !== undefined)
		contradictions.push(['command', 'A server cannot have both a url and a command. Remove one of them.']);
	if (enabled !== undefined && String(enabled) === String(disabled))
		contradictions.push(['disabled', 'This contradicts enabled. Remove one of them.']);
	return [...contradictions, ...repeatedHeaders(input.headers)];
}

/** Rejects duplicate headers, whose names are case-insensitive: it would be unclear which value is used. */
function repeatedHeaders(headers: unknown): Contradiction[] {
	const names = isObjectOrArray(headers) ? Object.keys(headers).map(name => name.toLowerCase()) : [];
	const repeated = names.filter((name, index) => names.indexOf(name) !== index);
	return repeated.length === 0 ? [] : [['headers', `Duplicate header: ${printable(repeated.join(', '))}.`]];
}

function transportContradictions({url, command, transport, type}: ServiceInput): Contradiction[] {
	const [key, value] = transport === undefined ? ['type', type] : ['transport', transport];
	const requested = transportAliases.get(value);
	if (requested === undefined) return [];
	if (key === 'transport' && type !== undefined && requested !== transportAliases.get(type))
		return [['type', 'This is an alias of transport, and their values differ. Remove one of them.']];
	if (requested === 'stdio')
		return url === undefined ? [] : [[key, 'stdio needs a command, but this server has a url.']];
	if (command !== undefined) return [[key, `${requested} needs a url, but this server has a command.`]];
	const inferred = typeof url === 'string' ? inferTransport(url) : undefined;
	if (inferred === undefined || (inferred === 'ws') === (requested === 'ws')) return [];
	return [[key, `${requested} does not match this url, which needs ${inferred}.`]];
}

const inferTransport = (url: string): ServiceTransport => (/^wss?:/i.test(url.trim()) ? 'ws' : 'http');

function createService(name: string, settings: ServiceSettings, folder: string): ServiceConfig {
	const headers = splitHeaders(settings.headers ?? {});
	const {transport = settings.type, url, command, args = [], env = {}, cwd} = settings;
	const {accept = headers.accept, contentType = headers.contentType, targetVersion, clientVersion} = settings;
	const {disabled = false, enabled = !disabled, insecure = false, shared = false, strict = false} = settings;
	const {cacheTools = false, timeout = 60_000, passAuthorization = true} = settings;
	return {
		name,
		command,
		args,
		env,
		targetVersion,
		clientVersion,
		cacheTools,
		accept,
		contentType,
		enabled,
		insecure,
		shared,
		strict,
		passAuthorization,
		transport: transport ?? (url ? inferTransport(url.href) : 'stdio'),
		isTransportGuessed: transport === undefined,
		url: url && withEncryption(url, insecure),
		cwd: cwd === undefined ? undefined : resolvePath(folder, cwd),
		headers: headers.others,
		timeoutMs: timeout,
	};
}

/** Separates Accept and Content-Type, which other programs put among the headers and bridge has keys for. */
function splitHeaders(headers: {readonly [name: string]: string}) {
	const byLowerCase = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
	const isOther = ([name]: [string, string]): boolean => !/^(accept|content-type)$/i.test(name);
	const others = Object.fromEntries(Object.entries(headers).filter(isOther));
	return {
		accept: byLowerCase.get('accept') ?? 'application/json, text/event-stream',
		contentType: byLowerCase.get('content-type') ?? 'application/json',
		others,
	};
}

/** Switches to an encrypted scheme for other machines, unless `insecure` is set. */
function withEncryption(input: URL, isInsecure: boolean): URL {
	const url = new URL(input);
	if (isInsecure || isLoopback(url.hostname)) return url;
	if (url.protocol === 'http:') url.protocol = 'https:';
	if (url.protocol === 'ws:') url.protocol = 'wss:';
	return url;
}
