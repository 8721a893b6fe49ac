import {dirname} from 'node:path';
import {nearest} from '../nearest.js';
import {shortened} from '../printable.js';
import {flag, identity, type Kind, text} from './kinds.js';
import {
	coreSettings,
	namedTables,
	pluginSettings,
	pluginTables,
	roleSettings,
	type Setting,
} from './settings.js';

/** A value, and the place that it comes from. */
export type Given = {readonly value: unknown; readonly from: string; readonly key: string};

/** The values of one place, by their name in the configuration: `model`, `roles.fast.model`, `aliases.lead`. */
export type Layer = Map<string, Given>;

/** What is wrong in a file, and with which key. */
export type Fault = {
	readonly key: string;
	readonly text: string;
	readonly isHarmless?: boolean;
	/** Whether the value is used all the same. */
	readonly isKept?: boolean;
};

type Table = {readonly [key: string]: unknown};

/** What a file says: all that can be understood of it, and what cannot. */
export function layerOf(value: unknown, file: string): {layer: Layer; faults: Fault[]} {
	const layer: Layer = new Map();
	const reader = new Reader(file, layer);
	const root = reader.table(value, '');
	for (const table of ['core', 'atm']) reader.settings(root[table], `[${table}]`, coreSettings);
	reader.named(root.aliases, '[aliases]', 'aliases', text);
	const plugins = reader.table(root.plugins, '[plugins]');
	for (const table of pluginTables) reader.plugin(plugins[table], `[plugins.${table}]`);
	return {layer, faults: reader.faults()};
}

/** Faults that are listed for one file: a hostile file may have any number. */
const MAX_FAULTS = 50;

/** Reads tables into a layer. What stands there already is stronger. */
class Reader {
	readonly #file: string;
	readonly #layer: Layer;
	readonly #faults: Fault[] = [];
	#left = 0;

	constructor(file: string, layer: Layer) {
		this.#file = file;
		this.#layer = layer;
	}

	faults(): Fault[] {
		const more = {key: 'more', text: `There are ${this.#left} more mistakes, which are not listed.`};
		return this.#left === 0 ? this.#faults : [...this.#faults, more];
	}

	#fault(key: string, text: () => string, more: Pick<Fault, 'isHarmless' | 'isKept'> = {}): void {
		if (this.#faults.length < MAX_FAULTS) this.#faults.push({key, text: text(), ...more});
		else this.#left++;
	}

	table(value: unknown, key: string): Table {
		if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Table;
		if (value !== undefined) this.#fault(key, () => 'Expected a table.');
		return {};
	}

	plugin(value: unknown, key: string): void {
		const table = this.table(value, key);
		this.settings(table, key, pluginSettings);
		this.#unknown(table, key, [...pluginSettings.flatMap(({keys}) => keys), ...namedTables]);
		this.named(table.per_thread_auto_mail, `${key}.per_thread_auto_mail`, 'perThreadAutoMail', flag);
		const roles = this.table(table.roles, `${key}.roles`);
		for (const [role, settings] of Object.entries(roles)) {
			const path = `${key.slice(0, -1)}.roles.${role}]`;
			if (identity.read(role, '') === undefined) {
				this.#fault(path, () => `The name of a role has to be ${identity.expected}.`);
				continue;
			}
			this.#layer.set(`roles.${role}`, {value: true, from: this.#file, key: path});
			this.settings(settings, path, roleSettings, `roles.${role}.`);
			this.#unknown(
				this.table(settings, path),
				path,
				roleSettings.flatMap(({keys}) => keys),
			);
		}
	}

	settings(value: unknown, path: string, settings: readonly Setting[], prefix = ''): void {
		const table = this.table(value, path);
		for (const setting of settings)
			for (const key of setting.keys) {
				if (!Object.hasOwn(table, key)) continue;
				this.#take(`${prefix}${setting.name}`, table[key], `${path}.${key}`, setting.kind);
			}
	}

	/** A table whose keys are names. */
	named(value: unknown, path: string, prefix: string, kind: Kind): void {
		for (const [key, each] of Object.entries(this.table(value, path)))
			this.#take(`${prefix}.${key}`, each, `${path}.${key}`, kind);
	}

	#take(to: string, given: unknown, key: string, kind: Kind): void {
		const value = kind.read(given, dirname(this.#file));
		const earlier = this.#layer.get(to);
		if (value === undefined) this.#fault(key, () => `Expected ${kind.expected}.`);
		else if (earlier) this.#fault(key, () => `${earlier.key} is what counts.`, {isHarmless: true});
		else {
			const problem = kind.problemOf?.(value);
			if (problem !== undefined) this.#fault(key, () => problem, {isKept: true});
			this.#layer.set(to, {value, from: this.#file, key});
		}
	}

	#unknown(table: Table, path: string, known: readonly string[]): void {
		for (const key of Object.keys(table))
			if (!known.includes(key))
				this.#fault(`${path}.${shortened(key)}`, () =>
					`This key is not known. ${nearest(key, known)}`.trim(),
				);
	}
}
