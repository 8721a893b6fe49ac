import {tableOf} from './kind.js';

type Table = {readonly [key: string]: unknown};

/** A server of a client's file with the keys of bridge, the key of the client for each, and the keys that were left out. */
export type Translated = {
	readonly server: Table;
	/** By the key of bridge, or by `headers.Authorization`; the same key where there is none. */
	readonly keys: ReadonlyMap<string, string>;
	readonly ignored: readonly string[];
};

/** Keys of Codex that bridge has, too. */
const same = ['command', 'args', 'env', 'cwd', 'url', 'enabled'];
/** Those that are translated. */
const translated = [
	'env_vars',
	'http_headers',
	'env_http_headers',
	'bearer_token',
	'bearer_token_env_var',
	'tool_timeout_sec',
];

/** Translates a server of Codex. Codex expands no variables, so its values are kept as they are; those that it reads from the environment become `${NAME}`. Like Codex, it leaves out variables and headers that are not set. */
export function fromCodex(given: Table, isSet: (name: string) => boolean): Translated {
	const entries = Object.entries(given).filter(([key]) => same.includes(key));
	const headers = headersOf(given, isSet);
	const env = {...passedOn(given.env_vars, isSet), ...tableOf(literal(given.env))};
	const server = {
		...Object.fromEntries(entries.map(([key, value]) => [key, literal(value)])),
		...(Object.keys(env).length > 0 ? {env} : {}),
		...(Object.keys(headers).length > 0 ? {headers} : {}),
		...(given.tool_timeout_sec === undefined ? {} : {timeout: given.tool_timeout_sec}),
	};
	return {
		server,
		keys: new Map([
			...(typeof given.bearer_token_env_var === 'string'
				? [['headers.Authorization', 'bearer_token_env_var'] as const]
				: []),
			['headers', 'http_headers'],
			['timeout', 'tool_timeout_sec'],
		]),
		ignored: Object.keys(given).filter(key => !same.includes(key) && !translated.includes(key)),
	};
}

function headersOf(given: Table, isSet: (name: string) => boolean): Table {
	const {bearer_token: token, bearer_token_env_var: tokenName} = given;
	const bearer =
		typeof tokenName === 'string'
			? variable(tokenName)
			: typeof token === 'string'
				? literal(token)
				: undefined;
	const named = Object.entries(tableOf(given.env_http_headers))
		.filter(([, name]) => typeof name !== 'string' || isSet(name))
		.map(([header, name]) => [header, typeof name === 'string' ? variable(name) : name]);
	return {
		...tableOf(literal(given.http_headers)),
		...Object.fromEntries(named),
		...(bearer === undefined ? {} : {Authorization: `Bearer ${bearer}`}),
	};
}

/** The variables that Codex passes on; an item may be a name, or a table with one. */
const passedOn = (given: unknown, isSet: (name: string) => boolean): Table =>
	Object.fromEntries(
		(Array.isArray(given) ? given : [])
			.map(item => (typeof item === 'string' ? item : tableOf(item).name))
			.filter((name): name is string => typeof name === 'string' && isSet(name))
			.map(name => [name, variable(name)]),
	);

const variable = (name: string): string => `$\{${name}}`;

/** A value whose text means itself where variables are expanded. */
function literal(value: unknown): unknown {
	if (typeof value === 'string') return value.replaceAll('${', () => '$${');
	if (Array.isArray(value)) return value.map(literal);
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, literal(item)]));
}
