import {asTable} from './client-format.js';

type Table = {readonly [key: string]: unknown};

/** A server of a client's file with bridge's keys, the client's key for each of them, and the unused keys. */
export type TranslatedServer = {
	readonly server: Table;
	/**
	 * The client's keys, by key of bridge or by `headers.Authorization`. Keys with equal names are omitted.
	 */
	readonly keys: ReadonlyMap<string, string>;
	readonly ignored: readonly string[];
};

/** Codex keys that bridge uses under the same name. */
const sharedKeys = ['command', 'args', 'env', 'cwd', 'url', 'enabled'];
/** Codex keys that are translated to other keys. */
const translatedKeys = [
	'env_vars',
	'http_headers',
	'env_http_headers',
	'bearer_token',
	'bearer_token_env_var',
	'tool_timeout_sec',
];

/**
 * Translates a server of Codex. Codex does not expand variables, so `${` is escaped. Values that Codex reads
 * from the environment become `${NAME}`. Variables and headers that are not set are omitted, as in Codex.
 */
export function translateCodexServer(entry: Table, isSet: (name: string) => boolean): TranslatedServer {
	const entries = Object.entries(entry).filter(([key]) => sharedKeys.includes(key));
	const headers = headersOf(entry, isSet);
	const env = {...forwardedVariables(entry.env_vars, isSet), ...asTable(escapeReferences(entry.env))};
	const server = {
		...Object.fromEntries(entries.map(([key, value]) => [key, escapeReferences(value)])),
		...(Object.keys(env).length > 0 ? {env} : {}),
		...(Object.keys(headers).length > 0 ? {headers} : {}),
		...(entry.tool_timeout_sec === undefined ? {} : {timeout: entry.tool_timeout_sec}),
	};
	return {
		server,
		keys: new Map([
			...(typeof entry.bearer_token_env_var === 'string'
				? [['headers.Authorization', 'bearer_token_env_var'] as const]
				: []),
			['headers', 'http_headers'],
			['timeout', 'tool_timeout_sec'],
		]),
		ignored: Object.keys(entry).filter(key => !sharedKeys.includes(key) && !translatedKeys.includes(key)),
	};
}

function headersOf(entry: Table, isSet: (name: string) => boolean): Table {
	const {bearer_token: token, bearer_token_env_var: tokenName} = entry;
	const bearer =
		typeof tokenName === 'string'
			? variableReference(tokenName)
			: typeof token === 'string'
				? escapeReferences(token)
				: undefined;
	const fromEnvironment = Object.entries(asTable(entry.env_http_headers))
		.filter(([, name]) => typeof name !== 'string' || isSet(name))
		.map(([header, name]) => [header, typeof name === 'string' ? variableReference(name) : name]);
	return {
		...asTable(escapeReferences(entry.http_headers)),
		...Object.fromEntries(fromEnvironment),
		...(bearer === undefined ? {} : {Authorization: `Bearer ${bearer}`}),
	};
}

/** The variables in `env_vars`. An item is a name, or a table with a `name`. */
const forwardedVariables = (items: unknown, isSet: (name: string) => boolean): Table =>
	Object.fromEntries(
		(Array.isArray(items) ? items : [])
			.map(item => (typeof item === 'string' ? item : asTable(item).name))
			.filter((name): name is string => typeof name === 'string' && isSet(name))
			.map(name => [name, variableReference(name)]),
	);

const variableReference = (name: string): string => `$\{${name}}`;

/** Escapes `${` in all strings, so that variable expansion keeps them unchanged. */
function escapeReferences(value: unknown): unknown {
	if (typeof value === 'string') return value.replaceAll('${', () => '$${');
	if (Array.isArray(value)) return value.map(escapeReferences);
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escapeReferences(item)]));
}
