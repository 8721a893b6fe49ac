import {stringify} from 'yaml';
import {printable} from '../printable.js';
import {redactText} from '../store/redact.js';
import {coreSettings, pluginSettings, roleSettings} from './settings.js';
import type {LoadedAtmConfig} from './types.js';

/** A value that is in force, under its name in files, with the place that it comes from. */
export type Shown = {readonly path: readonly string[]; readonly value: unknown; readonly from: string};

/** All values in the order in which people look for them. What is not set has null for a value. */
export function shownValues({config, origins}: LoadedAtmConfig): Shown[] {
	const shown = (path: readonly string[], value: unknown, name: string): Shown => ({
		path,
		value: hidden(value ?? null),
		from: origins.get(name) ?? 'default',
	});
	const key = (keys: readonly string[], name: string): string =>
		name === 'coreIdentity' ? 'core_identity' : name === 'team' ? 'team' : (keys.at(-1) ?? name);
	const plain = [...coreSettings, ...pluginSettings].map(({name, keys}) =>
		shown([name === 'identity' || !keys[1] ? key(keys, name) : (keys[0] ?? name)], config[name], name),
	);
	const aliases = [...config.aliases].map(([name, to]) => shown(['aliases', name], to, `aliases.${name}`));
	const mail = [...config.perThreadAutoMail].map(([name, is]) =>
		shown(['per_thread_auto_mail', name], is, `perThreadAutoMail.${name}`),
	);
	const roles = [...config.roles].flatMap(([role, settings]) =>
		roleSettings
			.filter(({name}) => settings[name] !== undefined)
			.map(({name, keys}) =>
				shown(['roles', role, key(keys, name)], settings[name], `roles.${role}.${name}`),
			),
	);
	const base: Shown = {
		path: ['base'],
		value: config.base,
		from: process.env.ATM_HOME ? '$ATM_HOME' : 'default',
	};
	return [base, ...plain, ...aliases, ...mail, ...roles];
}

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
	const width = Math.min(60, Math.max(...rows.map(({text}) => text.length)));
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
