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
	/** Undefined where there are mistakes. */
	readonly service: ServiceConfig | undefined;
	readonly issues: readonly ConfigIssue[];
	readonly warnings: readonly ConfigIssue[];
};

/** Keys of other programs that mean nothing here. */
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

/** Makes a service of what a file in this folder says of it. */
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
		.map(([key]) => issueAt(key, 'This key means nothing to bridge, and is left out.'));
	if (!value || issues.length > 0) return {service: undefined, issues, warnings};
	const service = createService(name, value, folder);
	const unusedKeys = service.transport === 'stdio' ? urlKeys : commandKeys;
	const kind = service.transport === 'stdio' ? 'command' : 'url';
	for (const key of unusedKeys)
		if (value[key] !== undefined && !isDefaultValue(key, value[key]))
			warnings.push(issueAt(key, `This has no meaning for a server with a ${kind}.`));
	if (service.url && service.url.protocol !== value.url?.protocol)
		warnings.push(issueAt('url', UPGRADED_TEXT.replace('SCHEME', service.url.protocol)));
	return {service, issues, warnings};
}

const UPGRADED_TEXT =
	'It is used as SCHEME//, since what goes to another machine has to be encrypted. Write insecure: true to send it as it is.';

/** Whether a value says what would be so without it. */
const isDefaultValue = (key: string, value: unknown): boolean =>
	isObjectOrArray(value) ? Object.keys(value).length === 0 : value === (key === 'passAuthorization');

type ServiceInput = {readonly [key: string]: unknown};
type Contradiction = readonly [key: string, text: string];

/** What cannot be meant together. It is looked for in what was written, be the rest of it right or wrong. */
function findContradictions(input: ServiceInput): Contradiction[] {
	const {url, command, enabled, disabled} = input;
	const contradictions: Contradiction[] = transportContradictions(input);
	if (url === undefined && command === undefined) contradictions.push(['', 'A url or a command is missing.']);
	if (url !== undefined && command !== undefined)
		contradictions.push(['command', 'There is a url as well. A server has one of the two.']);
	if (enabled !== undefined && String(enabled) === String(disabled))
		contradictions.push(['disabled', 'This is the opposite of enabled, which says something else.']);
	return [...contradictions, ...repeatedHeaders(input.headers)];
}

/** Headers are the same in any case, so one would win, and nobody could say which. */
function repeatedHeaders(headers: unknown): Contradiction[] {
	const names = isObjectOrArray(headers) ? Object.keys(headers).map(name => name.toLowerCase()) : [];
	const repeated = names.filter((name, at) => names.indexOf(name) !== at);
	return repeated.length === 0
		? []
		: [['headers', `A header stands here twice: ${printable(repeated.join(', '))}.`]];
}

function transportContradictions({url, command, transport, type}: ServiceInput): Contradiction[] {
	const [key, value] = transport === undefined ? ['type', type] : ['transport', transport];
	const requested = transportAliases.get(value);
	if (requested === undefined) return [];
	if (key === 'transport' && type !== undefined && requested !== transportAliases.get(type))
		return [['type', 'This is another name of transport, which says something else.']];
	if (requested === 'stdio')
		return url === undefined ? [] : [[key, 'stdio is for a command, and this is a url.']];
	if (command !== undefined) return [[key, `${requested} is for a url, and this is a command.`]];
	const inferred = typeof url === 'string' ? inferTransport(url) : undefined;
	if (inferred === undefined || (inferred === 'ws') === (requested === 'ws')) return [];
	return [[key, `${requested} does not go with this url, which is one of ${inferred}.`]];
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

/** In other programs' files Accept and Content-Type stand among the headers; here they have keys of their own. */
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

/** What goes beyond this machine is encrypted, unless somebody has said that it need not be. */
function withEncryption(input: URL, isInsecure: boolean): URL {
	const url = new URL(input);
	if (isInsecure || isLoopback(url.hostname)) return url;
	if (url.protocol === 'http:') url.protocol = 'https:';
	if (url.protocol === 'ws:') url.protocol = 'wss:';
	return url;
}
