import {stringify} from 'yaml';
import {printable} from '../printable.js';
import {redactText} from '../store/redact.js';
import {coreSettings, pluginSettings, roleSettings, type Setting} from './settings.js';
import type {LoadedAtmConfig} from './types.js';

/** A value that is in force, under its name in files, with the place that it comes from. */
export type Shown = {readonly path: readonly string[]; readonly value: unknown; readonly from: string};

/** The column of the places where they come from, at most. */
const MAX_WIDTH = 60;

/** All values in the order in which people look for them. What is not set has null for a value. */
export function shownValues({config, origins}: LoadedAtmConfig): Shown[] {
	const shown = (path: readonly string[], value: unknown, name: string): Shown => ({
		path,
		value: hidden(value ?? null),
		from: origins.get(name) ?? 'default',
	});
	const plain = [...coreSettings, ...pluginSettings].map(setting =>
		shown([titleOf(setting)], config[setting.name], setting.name),
	);
	const aliases = [...config.aliases].map(([name, to]) => shown(['aliases', name], to, `aliases.${name}`));
	const mail = [...config.perThreadAutoMail].map(([name, is]) =>
		shown(['per_thread_auto_mail', name], is, `perThreadAutoMail.${name}`),
	);
	const roles = [...config.roles].flatMap(([role, settings]) =>
		roleSettings
			.filter(({name}) => settings[name] !== undefined)
			.map(setting =>
				shown(['roles', role, titleOf(setting)], settings[setting.name], `roles.${role}.${setting.name}`),
			),
	);
	const base = shown(['base'], config.base, 'base');
	return [base, ...plain, ...aliases, ...mail, ...roles];
}

/** Names that differ from how a file has them: there, the table says the rest. */
const titles = new Map([
	['team', 'team'],
	['coreIdentity', 'core_identity'],
	['identity', 'identity'],
]);

const titleOf = ({name, keys}: Setting): string => titles.get(name) ?? keys[0] ?? name;

/** Texts without what looks like a secret in them. */
const hidden = (value: unknown): unknown =>
	typeof value === 'string' ? redactText(value) : Array.isArray(value) ? value.map(hidden) : value;

/** The configuration of sessions as YAML, each value with the place that it comes from. */
export function showAtmConfig(loaded: LoadedAtmConfig): string {
	const rows: Array<{readonly text: string; readonly from?: string}> = [];
	let above: readonly string[] = [];
	for (const {path, value, from} of shownValues(loaded)) {
		for (let depth = 0; depth < path.length - 1; depth++)
			if (path.slice(0, depth + 1).join('\0') !== above.slice(0, depth + 1).join('\0'))
				rows.push({text: `${'  '.repeat(depth)}${scalar(path[depth])}:`});
		above = path.slice(0, -1);
		rows.push({text: `${'  '.repeat(path.length - 1)}${scalar(path.at(-1))}: ${scalar(value)}`, from});
	}
	const width = rows.reduce((most, {text}) => Math.min(MAX_WIDTH, Math.max(most, text.length)), 0);
	const lines = rows.map(({text, from}) => (from ? `${text.padEnd(width)}  # ${printable(from)}` : text));
	const files = loaded.files.map(file => `#   ${printable(file)}`);
	const title =
		files.length > 0
			? ['# Sessions (bridge serve), from', ...files]
			: ['# Sessions (bridge serve): no file.'];
	return `${[...title, ...lines].join('\n')}\n`;
}

const scalar = (value: unknown): string =>
	printable(stringify(value, {lineWidth: 0, blockQuote: false, collectionStyle: 'flow'}).trimEnd());
