import {dirname} from 'node:path';
import {didYouMean} from '../../util/did-you-mean.js';
import {shortened} from '../../util/printable.js';
import {
	coreSettings,
	pluginSettings,
	pluginTables,
	roleSettings,
	type ServeSetting,
	userKeyedTables,
} from './settings.js';
import {booleanType, identityType, type SettingType, textType} from './value-types.js';

export type LayerValue = {readonly value: unknown; readonly source: string; readonly key: string};

/** The values of one source, by setting name: `model`, `roles.fast.model`, `aliases.lead`. */
export type ConfigLayer = Map<string, LayerValue>;

type LayerFault = {
	readonly key: string;
	readonly text: string;
	readonly isHarmless?: boolean;
	/** Whether the value is used nevertheless. */
	readonly isKept?: boolean;
};

type Table = {readonly [key: string]: unknown};

/** Parses a configuration file into the valid settings and the mistakes. */
export function parseLayer(value: unknown, file: string): {layer: ConfigLayer; faults: LayerFault[]} {
	const layer: ConfigLayer = new Map();
	const reader = new LayerReader(file, layer);
	const root = reader.table(value, '');
	for (const table of ['core', 'atm']) reader.settings(root[table], `[${table}]`, coreSettings);
	reader.namedTable(root.aliases, '[aliases]', 'aliases', textType);
	const plugins = reader.table(root.plugins, '[plugins]');
	for (const table of pluginTables) reader.pluginTable(plugins[table], `[plugins.${table}]`);
	return {layer, faults: reader.faults()};
}

/** Limit on listed faults, since a hostile file may have any number of them. */
const MAX_FAULTS = 50;

/** Reads tables into a layer. Earlier values take precedence. */
class LayerReader {
	readonly #file: string;
	readonly #layer: ConfigLayer;
	readonly #faults: LayerFault[] = [];
	#unlisted = 0;

	constructor(file: string, layer: ConfigLayer) {
		this.#file = file;
		this.#layer = layer;
	}

	faults(): LayerFault[] {
		const more = {key: 'more', text: `${this.#unlisted} more mistakes are not listed.`};
		return this.#unlisted === 0 ? this.#faults : [...this.#faults, more];
	}

	#report(key: string, text: () => string, more: Pick<LayerFault, 'isHarmless' | 'isKept'> = {}): void {
		if (this.#faults.length < MAX_FAULTS) this.#faults.push({key, text: text(), ...more});
		else this.#unlisted++;
	}

	table(value: unknown, key: string): Table {
		if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Table;
		if (value !== undefined) this.#report(key, () => 'Expected a table.');
		return {};
	}

	pluginTable(value: unknown, key: string): void {
		const table = this.table(value, key);
		this.settings(table, key, pluginSettings);
		this.#reportUnknownKeys(table, key, [...pluginSettings.flatMap(({keys}) => keys), ...userKeyedTables]);
		this.namedTable(
			table.per_thread_auto_mail,
			`${key}.per_thread_auto_mail`,
			'perThreadAutoMail',
			booleanType,
		);
		const roles = this.table(table.roles, `${key}.roles`);
		for (const [role, settings] of Object.entries(roles)) {
			const path = `${key.slice(0, -1)}.roles.${role}]`;
			if (identityType.parse(role, '') === undefined) {
				this.#report(path, () => `The name of a role must be ${identityType.expected}.`);
				continue;
			}
			this.#layer.set(`roles.${role}`, {value: true, source: this.#file, key: path});
			this.settings(settings, path, roleSettings, `roles.${role}.`);
			this.#reportUnknownKeys(
				this.table(settings, path),
				path,
				roleSettings.flatMap(({keys}) => keys),
			);
		}
	}

	settings(value: unknown, path: string, settings: readonly ServeSetting[], prefix = ''): void {
		const table = this.table(value, path);
		for (const setting of settings)
			for (const key of setting.keys) {
				if (!Object.hasOwn(table, key)) continue;
				this.#add(`${prefix}${setting.name}`, table[key], `${path}.${key}`, setting.type);
			}
	}

	/** Reads a table with user-defined keys. */
	namedTable(value: unknown, path: string, prefix: string, type: SettingType): void {
		for (const [key, each] of Object.entries(this.table(value, path)))
			this.#add(`${prefix}.${key}`, each, `${path}.${key}`, type);
	}

	#add(name: string, raw: unknown, key: string, type: SettingType): void {
		const value = type.parse(raw, dirname(this.#file));
		const earlier = this.#layer.get(name);
		if (value === undefined) this.#report(key, () => `Expected ${type.expected}.`);
		else if (earlier) this.#report(key, () => `${earlier.key} takes precedence.`, {isHarmless: true});
		else {
			const warning = type.warningFor?.(value);
			if (warning !== undefined) this.#report(key, () => warning, {isKept: true});
			this.#layer.set(name, {value, source: this.#file, key});
		}
	}

	#reportUnknownKeys(table: Table, path: string, knownKeys: readonly string[]): void {
		for (const key of Object.keys(table))
			if (!knownKeys.includes(key))
				this.#report(`${path}.${shortened(key)}`, () =>
					`This key is not known. ${didYouMean(key, knownKeys)}`.trim(),
				);
	}
}
