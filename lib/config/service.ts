import {resolve as resolvePath} from 'node:path';
import {isLoopback} from '../loopback.js';
import {printable} from '../printable.js';
import {isObject, judge} from './judge.js';
import type {Mistake, Path} from './mistakes.js';
import {
	type GivenService,
	knownKeys,
	type ServiceConfig,
	serviceShape,
	type Transport,
	transportNames,
} from './schema.js';

export type ResolvedService = {
	/** Undefined where there are mistakes. */
	readonly service: ServiceConfig | undefined;
	readonly mistakes: readonly Mistake[];
	readonly warnings: readonly Mistake[];
};

/** Keys of other programs that mean nothing here. */
const foreign: ReadonlySet<string> = new Set([
	'alwaysAllow',
	'autoApprove',
	'description',
	'dev',
	'gallery',
	'version',
]);
const ofCommands = ['args', 'env', 'cwd', 'shared'] as const;
const ofUrls = ['headers', 'accept', 'contentType', 'insecure', 'passAuthorization'] as const;

/** Makes a service of what a file in this folder says of it. */
export function resolveService(
	name: string,
	given: unknown,
	{path, folder}: {readonly path: Path; readonly folder: string},
): ResolvedService {
	if (!isObject(given) || Array.isArray(given))
		return {service: undefined, mistakes: [{path, text: 'Expected a url or a command.'}], warnings: []};
	const entries = Object.entries(given);
	const own = Object.fromEntries(entries.filter(([key]) => !foreign.has(key)));
	const {value, mistakes: found} = judge(serviceShape, own, {path, known: () => knownKeys.service});
	const told = (key: string, text: string): Mistake => ({path: [...path, key], text});
	const contradictions = contradictionsIn(own).map(([key, text]) =>
		key === '' ? {path, text} : told(key, text),
	);
	const mistakes = [...found, ...contradictions];
	const warnings = entries
		.filter(([key]) => foreign.has(key))
		.map(([key]) => told(key, 'This key means nothing to bridge, and is left out.'));
	if (!value || mistakes.length > 0) return {service: undefined, mistakes, warnings};
	const service = serviceOf(name, value, folder);
	const idle = service.transport === 'stdio' ? ofUrls : ofCommands;
	const kind = service.transport === 'stdio' ? 'command' : 'url';
	for (const key of idle)
		if (value[key] !== undefined && !isUsual(key, value[key]))
			warnings.push(told(key, `This has no meaning for a server with a ${kind}.`));
	if (service.url && service.url.protocol !== value.url?.protocol)
		warnings.push(told('url', UPGRADED.replace('SCHEME', service.url.protocol)));
	return {service, mistakes, warnings};
}

const UPGRADED =
	'It is used as SCHEME//, since what goes to another machine has to be encrypted. Write insecure: true to send it as it is.';

/** Whether a value says what would be so without it. */
const isUsual = (key: string, value: unknown): boolean =>
	isObject(value) ? Object.keys(value).length === 0 : value === (key === 'passAuthorization');

type Given = {readonly [key: string]: unknown};
type Wrong = readonly [key: string, text: string];

/** What cannot be meant together. It is looked for in what was written, be the rest of it right or wrong. */
function contradictionsIn(given: Given): Wrong[] {
	const {url, command, enabled, disabled} = given;
	const wrong: Wrong[] = transportContradictions(given);
	if (url === undefined && command === undefined) wrong.push(['', 'A url or a command is missing.']);
	if (url !== undefined && command !== undefined)
		wrong.push(['command', 'There is a url as well. A server has one of the two.']);
	if (enabled !== undefined && String(enabled) === String(disabled))
		wrong.push(['disabled', 'This is the opposite of enabled, which says something else.']);
	return [...wrong, ...repeatedHeaders(given.headers)];
}

/** Headers are the same in any case, so one would win, and nobody could say which. */
function repeatedHeaders(headers: unknown): Wrong[] {
	const names = isObject(headers) ? Object.keys(headers).map(name => name.toLowerCase()) : [];
	const repeated = names.filter((name, at) => names.indexOf(name) !== at);
	return repeated.length === 0
		? []
		: [['headers', `A header stands here twice: ${printable(repeated.join(', '))}.`]];
}

function transportContradictions({url, command, transport, type}: Given): Wrong[] {
	const [key, named] = transport === undefined ? ['type', type] : ['transport', transport];
	const wanted = transportNames.get(named);
	if (wanted === undefined) return [];
	if (key === 'transport' && type !== undefined && wanted !== transportNames.get(type))
		return [['type', 'This is another name of transport, which says something else.']];
	if (wanted === 'stdio')
		return url === undefined ? [] : [[key, 'stdio is for a command, and this is a url.']];
	if (command !== undefined) return [[key, `${wanted} is for a url, and this is a command.`]];
	const guessed = typeof url === 'string' ? guess(url) : undefined;
	if (guessed === undefined || (guessed === 'ws') === (wanted === 'ws')) return [];
	return [[key, `${wanted} does not go with this url, which is one of ${guessed}.`]];
}

const guess = (url: string): Transport => (/^wss?:/i.test(url.trim()) ? 'ws' : 'http');

function serviceOf(name: string, given: GivenService, folder: string): ServiceConfig {
	const headers = splitHeaders(given.headers ?? {});
	const {transport = given.type, url, command, args = [], env = {}, cwd} = given;
	const {accept = headers.accept, contentType = headers.contentType, targetVersion, clientVersion} = given;
	const {disabled = false, enabled = !disabled, insecure = false, shared = false, strict = false} = given;
	const {cacheTools = false, timeout = 60_000, passAuthorization = true} = given;
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
		transport: transport ?? (url ? guess(url.href) : 'stdio'),
		isTransportGuessed: transport === undefined,
		url: url && encrypted(url, insecure),
		cwd: cwd === undefined ? undefined : resolvePath(folder, cwd),
		headers: headers.others,
		timeoutMs: timeout,
	};
}

/** In other programs' files Accept and Content-Type stand among the headers; here they have keys of their own. */
function splitHeaders(headers: {readonly [name: string]: string}) {
	const named = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
	const isOther = ([name]: [string, string]): boolean => !/^(accept|content-type)$/i.test(name);
	const others = Object.fromEntries(Object.entries(headers).filter(isOther));
	return {
		accept: named.get('accept') ?? 'application/json, text/event-stream',
		contentType: named.get('content-type') ?? 'application/json',
		others,
	};
}

/** What goes beyond this machine is encrypted, unless somebody has said that it need not be. */
function encrypted(given: URL, isInsecure: boolean): URL {
	const url = new URL(given);
	if (isInsecure || isLoopback(url.hostname)) return url;
	if (url.protocol === 'http:') url.protocol = 'https:';
	if (url.protocol === 'ws:') url.protocol = 'wss:';
	return url;
}
