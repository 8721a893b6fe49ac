import {resolve as resolvePath} from 'node:path';
import {isLoopback} from '../util/loopback.js';
import type {ConfigIssue, ConfigPath} from './issues.js';
import {resolveLimits} from './limits.js';
import {
	defaultListenAddress,
	formatListenAddress,
	type ListenAddress,
	parseListenAddress,
} from './listen-address.js';
import {resolveService} from './resolve-service.js';
import {type Config, type FileSettings, fileSchema, knownKeys, type ServiceConfig} from './schema.js';
import {isServerName, slugify} from './server-names.js';
import {isObjectOrArray, validate} from './validate.js';

type ResolvedConfig = {
	/** Undefined if there are issues. */
	readonly config: Config | undefined;
	readonly issues: readonly ConfigIssue[];
	readonly warnings: readonly ConfigIssue[];
};

/** Top-level keys of other programs. They are ignored. */
const foreignKeys: ReadonlySet<string> = new Set(['inputs', 'globalShortcut', 'preferences', 'scale']);

/** Builds a configuration from the content of a file in `folder`. */
export function resolveConfig(input: unknown, folder: string): ResolvedConfig {
	if (input !== null && input !== undefined && (!isObjectOrArray(input) || Array.isArray(input)))
		return {config: undefined, issues: [{text: 'Expected keys and values.'}], warnings: []};
	const entries = Object.entries(input ?? {});
	const warnings: ConfigIssue[] = entries
		.filter(([key]) => foreignKeys.has(key))
		.map(([key]) => ({path: [key], text: 'bridge does not use this key and ignores it.'}));
	const isOwn = ([key]: [string, unknown]): boolean =>
		!foreignKeys.has(key) && key !== '$schema' && key !== 'servers' && key !== 'mcpServers';
	const file = validate(fileSchema, Object.fromEntries(entries.filter(isOwn)), {
		path: [],
		keysAt: path => (path[0] === 'limits' ? knownKeys.limits : knownKeys.file),
	});
	const servers = resolveServers(new Map(entries), folder);
	const issues = [
		...file.issues,
		...servers.issues,
		...exposureIssues(new Map(entries)),
		...unsealedStoreIssues(file.value),
	];
	addAll(warnings, servers.warnings);
	if (!file.value || issues.length > 0) return {config: undefined, issues, warnings};
	return {config: {...resolveSettings(file.value, folder), services: servers.services}, issues, warnings};
}

const resolveSettings = ({limits, ...settings}: FileSettings, folder: string): Omit<Config, 'services'> => ({
	listen: settings.listen ?? defaultListenAddress,
	tokens: settings.tokens ?? [],
	origins: settings.origins ?? [],
	expose: settings.expose ?? 'run',
	startupTimeoutMs: settings.startupTimeout ?? 10_000,
	runTimeoutMs: settings.runTimeout ?? 90_000,
	limits: resolveLimits(limits ?? {}, settings.tokens ?? []),
	packs: settings.packs === undefined ? undefined : resolvePath(folder, settings.packs),
	secret: settings.secret,
	advertise: settings.advertise,
	store: settings.store,
});

/** Rejects addresses that are reachable from other machines without a token, whatever other issues exist. */
function exposureIssues(entries: ReadonlyMap<string, unknown>): ConfigIssue[] {
	const [listen, tokens] = [parseListenAddress(entries.get('listen')), entries.get('tokens')];
	const text = listen && exposureReason(listen, !isEmpty(tokens));
	return text === undefined ? [] : [{path: ['listen'], text}];
}

/** Returns why a gateway may not listen on an address, if other machines could use it without a token. */
export function exposureReason(listen: ListenAddress, hasTokens: boolean): string | undefined {
	if (isLoopback(listen.host) || hasTokens) return;
	const loopback = formatListenAddress({...defaultListenAddress, port: listen.port});
	return `${formatListenAddress(listen)} can be reached from other machines, and there are no tokens. Listen on ${loopback}, or set tokens: ["$\{BRIDGE_TOKEN}"].`;
}

/** Rejects a store without a secret, which replicas need to encrypt shared data. */
const unsealedStoreIssues = (file: FileSettings | undefined): ConfigIssue[] =>
	file?.store !== undefined && file.secret === undefined
		? [
				{
					path: ['store'],
					text: `The data in the store must be encrypted. Also set secret: "$\{BRIDGE_SECRET}".`,
				},
			]
		: [];

type ResolvedServers = {
	readonly services: ReadonlyMap<string, ServiceConfig>;
	readonly issues: readonly ConfigIssue[];
	readonly warnings: readonly ConfigIssue[];
};

function resolveServers(entries: ReadonlyMap<string, unknown>, folder: string): ResolvedServers {
	const services = new Map<string, ServiceConfig>();
	const issues: ConfigIssue[] = [];
	const warnings: ConfigIssue[] = [];
	const filled = ['servers', 'mcpServers'].filter(key => !isEmpty(entries.get(key)));
	if (filled.length === 2)
		issues.push({path: ['mcpServers'], text: 'mcpServers is an alias of servers. Use only one of them.'});
	for (const key of filled) {
		const table = entries.get(key);
		if (!isObjectOrArray(table) || Array.isArray(table)) {
			issues.push({path: [key], text: 'Expected server names and their settings.'});
			continue;
		}
		for (const [name, value] of Object.entries(table)) {
			const path = [key, name];
			if (!isServerName(name)) issues.push(invalidNameIssue(path, name));
			const {service, ...problems} = resolveService(name, value, {path, folder});
			addAll(issues, problems.issues);
			addAll(warnings, problems.warnings);
			if (service) services.set(name, service);
		}
	}
	return {services, issues, warnings};
}

/** Appends one by one. Spreading a long list into `push` would overflow the stack. */
function addAll(to: ConfigIssue[], from: readonly ConfigIssue[]): void {
	for (const issue of from) to.push(issue);
}

const isEmpty = (value: unknown): boolean =>
	value === undefined || value === null || (isObjectOrArray(value) && Object.keys(value).length === 0);

function invalidNameIssue(path: ConfigPath, name: string): ConfigIssue {
	const slug = slugify(name);
	const suggestion = slug === undefined ? '' : ` Try ${slug}.`;
	const text = `Invalid server name, since it is part of a URL. Use up to 64 of a-z, 0-9, _ and -, starting with a letter or digit.`;
	return {path, text: `${text}${suggestion}`};
}
