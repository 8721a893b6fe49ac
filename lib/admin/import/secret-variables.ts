import {asTable} from '../../config/client-formats/client-format.js';
import {formatPath} from '../../config/issues.js';
import {UniqueNames} from '../../config/server-names.js';
import {type DetectedSecret, findSecret, findSecretInArgument} from './detect-secrets.js';

type Table = {readonly [key: string]: unknown};

/** A secret that was replaced with a variable: the variable's name and the path of the value. */
export type ExtractedSecret = {readonly name: string; readonly path: string};

/** Replaces secrets with variables. Equal secrets with the same name share one variable. */
export class SecretVariables {
	readonly extracted: ExtractedSecret[] = [];
	readonly #uniqueNames = new UniqueNames();
	readonly #names = new Map<string, string>();

	/** Returns a server without its secrets. All variables in `fromFile` count as secrets. */
	replaceSecrets(server: string, entry: Table, fromFile: ReadonlySet<string>): Table {
		const formatAt = (...path: Array<string | number>): string => formatPath(['servers', server, ...path]);
		const {url, args} = entry;
		const secret = typeof url === 'string' ? findSecret('url', url) : undefined;
		return {
			...entry,
			...(secret ? {url: this.#extract(server, secret, formatAt('url'))} : {}),
			...(Array.isArray(args) ? {args: this.#args(server, args, formatAt)} : {}),
			...this.#env(entry, formatAt, fromFile),
			...this.#headers(server, entry, formatAt),
		};
	}

	#args(server: string, args: readonly unknown[], formatAt: FormatPath): unknown[] {
		return args.map((value, index) => {
			if (typeof value !== 'string') return value;
			const found = findSecretInArgument(String(args[index - 1] ?? ''), value);
			return found ? this.#extract(server, found, formatAt('args', index)) : value;
		});
	}

	#env({env}: Table, formatAt: FormatPath, fromFile: ReadonlySet<string>): Table {
		return env === undefined
			? {}
			: {
					env: mapValues(env, (name, value) => {
						const isFromFile = fromFile.has(name) && value !== '';
						const found = isFromFile ? {name, before: '', secret: value, after: ''} : findSecret(name, value);
						return found ? this.#extract('', found, formatAt('env', name)) : value;
					}),
				};
	}

	#headers(server: string, {headers}: Table, formatAt: FormatPath): Table {
		return headers === undefined
			? {}
			: {
					headers: mapValues(headers, (name, value) => {
						const found = findSecret(name, value);
						return found ? this.#extract(server, found, formatAt('headers', name)) : value;
					}),
				};
	}

	/**
	 * Replaces a secret with a variable. Names that are ambiguous without their server are prefixed with its
	 * name.
	 */
	#extract(server: string, {name, before, secret, after}: DetectedSecret, path: string): string {
		const base = variableName(server === '' ? name : `${server}_${name}`);
		const key = JSON.stringify([base, secret]);
		const variable = this.#names.get(key) ?? this.#uniqueNames.reserve(base).replaceAll('-', '_');
		this.#names.set(key, variable);
		this.extracted.push({name: variable, path});
		return `${before}$\{${variable}}${after}`;
	}
}

const mapValues = (table: unknown, change: (name: string, value: string) => string): Table =>
	Object.fromEntries(
		Object.entries(asTable(table)).map(([name, value]) => [
			name,
			typeof value === 'string' ? change(name, value) : value,
		]),
	);

type FormatPath = (...path: Array<string | number>) => string;

function variableName(text: string): string {
	const name = text
		.toUpperCase()
		.replace(/[^A-Z0-9]+/g, '_')
		.replace(/^_|_$/g, '');
	return /^[A-Z]/.test(name) ? name : `SECRET_${name}`;
}
