import {pathText} from '../config/mistakes.js';
import {FreeNames} from '../config/names.js';
import {tableOf} from './kind.js';
import {type Secret, secretIn, secretInArgument} from './secret-values.js';

type Table = {readonly [key: string]: unknown};

/** A secret that has become a variable: its name, and where it was. */
export type HiddenSecret = {readonly name: string; readonly place: string};

/** Replaces secrets of servers by variables. Equal secrets of one name become one variable. */
export class SecretVariables {
	readonly hidden: HiddenSecret[] = [];
	readonly #free = new FreeNames();
	readonly #names = new Map<string, string>();

	/** A server without its secrets. All variables of `fromFile` are secrets, whatever their name. */
	without(server: string, given: Table, fromFile: ReadonlySet<string>): Table {
		const at = (...path: Array<string | number>): string => pathText(['servers', server, ...path]);
		const {url, args} = given;
		const secret = typeof url === 'string' ? secretIn('url', url) : undefined;
		return {
			...given,
			...(secret ? {url: this.#hide(server, secret, at('url'))} : {}),
			...(Array.isArray(args) ? {args: this.#args(server, args, at)} : {}),
			...this.#env(given, at, fromFile),
			...this.#headers(server, given, at),
		};
	}

	#args(server: string, args: readonly unknown[], at: Place): unknown[] {
		return args.map((value, index) => {
			if (typeof value !== 'string') return value;
			const found = secretInArgument(String(args[index - 1] ?? ''), value);
			return found ? this.#hide(server, found, at('args', index)) : value;
		});
	}

	#env({env}: Table, at: Place, fromFile: ReadonlySet<string>): Table {
		return env === undefined
			? {}
			: {
					env: mapped(env, (name, value) => {
						const isHidden = fromFile.has(name) && value !== '';
						const found = isHidden ? {name, before: '', secret: value, after: ''} : secretIn(name, value);
						return found ? this.#hide('', found, at('env', name)) : value;
					}),
				};
	}

	#headers(server: string, {headers}: Table, at: Place): Table {
		return headers === undefined
			? {}
			: {
					headers: mapped(headers, (name, value) => {
						const found = secretIn(name, value);
						return found ? this.#hide(server, found, at('headers', name)) : value;
					}),
				};
	}

	/** The text with a variable in place of the secret. Names that mean nothing without their server have it in front. */
	#hide(server: string, {name, before, secret, after}: Secret, place: string): string {
		const base = variableName(server === '' ? name : `${server}_${name}`);
		const key = JSON.stringify([base, secret]);
		const variable = this.#names.get(key) ?? this.#free.take(base).replaceAll('-', '_');
		this.#names.set(key, variable);
		this.hidden.push({name: variable, place});
		return `${before}$\{${variable}}${after}`;
	}
}

/** A table with its texts changed. */
const mapped = (table: unknown, change: (name: string, value: string) => string): Table =>
	Object.fromEntries(
		Object.entries(tableOf(table)).map(([name, value]) => [
			name,
			typeof value === 'string' ? change(name, value) : value,
		]),
	);

type Place = (...path: Array<string | number>) => string;

function variableName(text: string): string {
	const name = text
		.toUpperCase()
		.replace(/[^A-Z0-9]+/g, '_')
		.replace(/^_|_$/g, '');
	return /^[A-Z]/.test(name) ? name : `SECRET_${name}`;
}
