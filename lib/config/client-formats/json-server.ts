import {sep} from 'node:path';
import {knownKeys} from '../schema.js';
import {isTable} from './client-format.js';
import type {TranslatedServer} from './codex-server.js';

type Table = {readonly [key: string]: unknown};

/** The key for the path of an env file, in the files of VS Code and Cursor. */
export const ENV_FILE = 'envFile';

const knownServerKeys: ReadonlySet<string> = new Set([...knownKeys.service, ENV_FILE]);

/** Timeouts from this number on are milliseconds, as clients write them. bridge uses seconds. */
const MIN_MILLISECONDS = 1000;

/** Translates a server of Claude, Cursor or VS Code. Adds the inputs that it refers to to `inputs`. */
export function translateJsonServer(entry: Table, inputs: ClientInputs): TranslatedServer {
	const entries = Object.entries(entry).filter(([key]) => knownServerKeys.has(key));
	const {timeout, env} = entry;
	const server = {
		...Object.fromEntries(entries.map(([key, value]) => [key, translateReferences(value, inputs)])),
		...(isTable(env) ? {env: translateReferences(stringifyValues(env), inputs)} : {}),
		...(typeof timeout === 'number' && timeout >= MIN_MILLISECONDS ? {timeout: `${timeout}ms`} : {}),
	};
	return {server, keys: new Map(), ignored: Object.keys(entry).filter(key => !knownServerKeys.has(key))};
}

/** Converts variables to strings. VS Code also accepts numbers, and null for a variable that is not set. */
const stringifyValues = (env: Table): Table =>
	Object.fromEntries(
		Object.entries(env)
			.filter(([, value]) => value !== null)
			.map(([name, value]) => [
				name,
				typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
			]),
	);

/** The ids of VS Code inputs, by the environment variable that provides the value. */
export type ClientInputs = Map<string, string>;

/** The environment variable that provides the value of an input. */
export const inputVariable = (id: string): string =>
	`BRIDGE_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`;

/** Excludes `$` from ids to avoid quadratic backtracking. */
const INPUT_REFERENCE = /\$\{input:([^}$]{0,200})\}|\$\{\/\}/g;

/** Replaces references to inputs and to the path separator. */
function translateReferences(value: unknown, inputs: ClientInputs): unknown {
	if (typeof value === 'string')
		return value.replace(INPUT_REFERENCE, (_whole, id?: string) => {
			if (id === undefined) return sep;
			const name = inputVariable(id);
			inputs.set(name, id);
			return `$\{${name}}`;
		});
	if (Array.isArray(value)) return value.map(item => translateReferences(item, inputs));
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(
		Object.entries(value).map(([key, item]) => [key, translateReferences(item, inputs)]),
	);
}
