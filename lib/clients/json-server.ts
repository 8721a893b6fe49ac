import {sep} from 'node:path';
import {knownKeys} from '../config/schema.js';
import type {Translated} from './codex-server.js';
import {isTable} from './kind.js';

type Table = {readonly [key: string]: unknown};

/** The key of a file of variables, in the files of VS Code and Cursor. */
export const ENV_FILE = 'envFile';

const known: ReadonlySet<string> = new Set([...knownKeys.service, ENV_FILE]);

/** A whole number of at least this is in milliseconds: clients count in these, and bridge in seconds. */
const LEAST_MS = 1000;

/** Translates a server of Claude, Cursor or VS Code. `inputs` collects the inputs that it refers to. */
export function fromJson(given: Table, inputs: Inputs): Translated {
	const entries = Object.entries(given).filter(([key]) => known.has(key));
	const {timeout, env} = given;
	const server = {
		...Object.fromEntries(entries.map(([key, value]) => [key, referring(value, inputs)])),
		...(isTable(env) ? {env: referring(asTexts(env), inputs)} : {}),
		...(typeof timeout === 'number' && timeout >= LEAST_MS ? {timeout: `${timeout}ms`} : {}),
	};
	return {server, keys: new Map(), ignored: Object.keys(given).filter(key => !known.has(key))};
}

/** Variables as texts. VS Code also takes numbers, and null for a variable that is not set. */
const asTexts = (env: Table): Table =>
	Object.fromEntries(
		Object.entries(env)
			.filter(([, value]) => value !== null)
			.map(([name, value]) => [
				name,
				typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
			]),
	);

/** The ids of inputs of VS Code, by the environment variable that has the value. */
export type Inputs = Map<string, string>;

/** The environment variable that gives an input its value. */
export const inputVariable = (id: string): string =>
	`BRIDGE_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`;

/** An id has no `$`, so that each character is read once. */
const REFERENCE = /\$\{input:([^}$]{0,200})\}|\$\{\/\}/g;

/** A value whose references are those of bridge. */
function referring(value: unknown, inputs: Inputs): unknown {
	if (typeof value === 'string')
		return value.replace(REFERENCE, (_whole, id?: string) => {
			if (id === undefined) return sep;
			const name = inputVariable(id);
			inputs.set(name, id);
			return `$\{${name}}`;
		});
	if (Array.isArray(value)) return value.map(item => referring(item, inputs));
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, referring(item, inputs)]));
}
