import {resolve as resolvePath} from 'node:path';
import {isLoopback} from '../loopback.js';
import {isObject, judge} from './judge.js';
import {limitsOf} from './limits.js';
import {defaultListen, type Listen, listenOf, listenText} from './listen.js';
import type {Mistake, Path} from './mistakes.js';
import {isServerName, slugOf} from './names.js';
import {type Config, fileShape, type GivenFile, knownKeys, type ServiceConfig} from './schema.js';
import {resolveService} from './service.js';

/** What a file means, and what is wrong with it or odd about it. */
export type Resolved = {
	/** Undefined where there are mistakes. */
	readonly config: Config | undefined;
	readonly mistakes: readonly Mistake[];
	readonly warnings: readonly Mistake[];
};

/** Keys of other programs, beside their servers, that mean nothing here. */
const foreign: ReadonlySet<string> = new Set(['inputs', 'globalShortcut', 'preferences', 'scale']);

/** Makes a configuration of what a file in this folder holds. */
export function resolveConfig(given: unknown, folder: string): Resolved {
	if (given !== null && given !== undefined && (!isObject(given) || Array.isArray(given)))
		return {config: undefined, mistakes: [{text: 'Expected keys and values.'}], warnings: []};
	const entries = Object.entries(given ?? {});
	const warnings: Mistake[] = entries
		.filter(([key]) => foreign.has(key))
		.map(([key]) => ({path: [key], text: 'This key means nothing to bridge, and is left out.'}));
	const isOwn = ([key]: [string, unknown]): boolean =>
		!foreign.has(key) && key !== '$schema' && key !== 'servers' && key !== 'mcpServers';
	const file = judge(fileShape, Object.fromEntries(entries.filter(isOwn)), {
		path: [],
		known: path => (path[0] === 'limits' ? knownKeys.limits : knownKeys.file),
	});
	const servers = resolveServers(new Map(entries), folder);
	const mistakes = [
		...file.mistakes,
		...servers.mistakes,
		...exposed(new Map(entries)),
		...openStore(file.value),
	];
	addAll(warnings, servers.warnings);
	if (!file.value || mistakes.length > 0) return {config: undefined, mistakes, warnings};
	return {config: {...wholeOf(file.value, folder), services: servers.services}, mistakes, warnings};
}

const wholeOf = ({limits, ...given}: GivenFile, folder: string): Omit<Config, 'services'> => ({
	listen: given.listen ?? defaultListen,
	tokens: given.tokens ?? [],
	origins: given.origins ?? [],
	expose: given.expose ?? 'run',
	startupTimeoutMs: given.startupTimeout ?? 10_000,
	runTimeoutMs: given.runTimeout ?? 90_000,
	limits: limitsOf(limits ?? {}, given.tokens ?? []),
	packs: given.packs === undefined ? undefined : resolvePath(folder, given.packs),
	secret: given.secret,
	advertise: given.advertise,
	store: given.store,
});

/** Whoever can reach a machine could use all its servers. This is looked for whatever else is wrong. */
function exposed(given: ReadonlyMap<string, unknown>): Mistake[] {
	const [listen, tokens] = [listenOf(given.get('listen')), given.get('tokens')];
	const text = listen && exposure(listen, !isEmpty(tokens));
	return text === undefined ? [] : [{path: ['listen'], text}];
}

/** Why a gateway may not listen on an address: others could use it without a token. */
export function exposure(listen: Listen, hasTokens: boolean): string | undefined {
	if (isLoopback(listen.host) || hasTokens) return;
	const here = listenText({...defaultListen, port: listen.port});
	return `${listenText(listen)} can be reached from other machines, and there are no tokens. Listen on ${here}, or set tokens: ["$\{BRIDGE_TOKEN}"].`;
}

/** What replicas share is for them alone. */
const openStore = (file: GivenFile | undefined): Mistake[] =>
	file?.store !== undefined && file.secret === undefined
		? [{path: ['store'], text: `What is kept there has to be sealed. Set secret: "$\{BRIDGE_SECRET}", too.`}]
		: [];

type Servers = {
	readonly services: ReadonlyMap<string, ServiceConfig>;
	readonly mistakes: readonly Mistake[];
	readonly warnings: readonly Mistake[];
};

function resolveServers(entries: ReadonlyMap<string, unknown>, folder: string): Servers {
	const services = new Map<string, ServiceConfig>();
	const mistakes: Mistake[] = [];
	const warnings: Mistake[] = [];
	const filled = ['servers', 'mcpServers'].filter(key => !isEmpty(entries.get(key)));
	if (filled.length === 2)
		mistakes.push({path: ['mcpServers'], text: 'This is another name of servers. Use one of the two.'});
	for (const key of filled) {
		const given = entries.get(key);
		if (!isObject(given) || Array.isArray(given)) {
			mistakes.push({path: [key], text: 'Expected names of servers, with what they are.'});
			continue;
		}
		for (const [name, value] of Object.entries(given)) {
			const path = [key, name];
			if (!isServerName(name)) mistakes.push(misnamed(path, name));
			const {service, ...odd} = resolveService(name, value, {path, folder});
			addAll(mistakes, odd.mistakes);
			addAll(warnings, odd.warnings);
			if (service) services.set(name, service);
		}
	}
	return {services, mistakes, warnings};
}

/** Adds mistakes one by one: as arguments of one call, too many of them would overflow the stack. */
function addAll(to: Mistake[], from: readonly Mistake[]): void {
	for (const mistake of from) to.push(mistake);
}

const isEmpty = (given: unknown): boolean =>
	given === undefined || given === null || (isObject(given) && Object.keys(given).length === 0);

function misnamed(path: Path, name: string): Mistake {
	const better = slugOf(name);
	const idea = better === undefined ? '' : ` ${better} would do.`;
	const text = `The name of a server is part of its URL: up to 64 of a-z, 0-9, _ and -, the first a letter or digit.`;
	return {path, text: `${text}${idea}`};
}
