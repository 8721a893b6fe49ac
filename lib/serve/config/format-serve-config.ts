import {stringify} from 'yaml';
import {redactText} from '../../core/redact.js';
import {printable} from '../../util/printable.js';
import {coreSettings, pluginSettings, roleSettings, type ServeSetting} from './settings.js';
import type {LoadedServeConfig} from './types.js';

/** An effective value, with its path in files and its origin. */
type ServeConfigValue = {
	readonly path: readonly string[];
	readonly value: unknown;
	readonly from: string;
};

/** Limit on the column in which the origins start. */
const MAX_WIDTH = 60;

/** Lists all effective values in display order. Unset values are null. */
export function listServeConfigValues({config, origins}: LoadedServeConfig): ServeConfigValue[] {
	const toValue = (path: readonly string[], value: unknown, name: string): ServeConfigValue => ({
		path,
		value: redactValue(value ?? null),
		from: origins.get(name) ?? 'default',
	});
	const plain = [...coreSettings, ...pluginSettings].map(setting =>
		toValue([titleOf(setting)], config[setting.name], setting.name),
	);
	const aliases = [...config.aliases].map(([name, to]) => toValue(['aliases', name], to, `aliases.${name}`));
	const mail = [...config.perThreadAutoMail].map(([name, is]) =>
		toValue(['per_thread_auto_mail', name], is, `perThreadAutoMail.${name}`),
	);
	const roles = [...config.roles].flatMap(([role, settings]) =>
		roleSettings
			.filter(({name}) => settings[name] !== undefined)
			.map(setting =>
				toValue(['roles', role, titleOf(setting)], settings[setting.name], `roles.${role}.${setting.name}`),
			),
	);
	const base = toValue(['base'], config.base, 'base');
	return [base, ...plain, ...aliases, ...mail, ...roles];
}

/** Displayed names that differ from the keys in files, where the table provides the context. */
const titleOverrides = new Map([
	['team', 'team'],
	['coreIdentity', 'core_identity'],
	['identity', 'identity'],
]);

const titleOf = ({name, keys}: ServeSetting): string => titleOverrides.get(name) ?? keys[0] ?? name;

const redactValue = (value: unknown): unknown =>
	typeof value === 'string' ? redactText(value) : Array.isArray(value) ? value.map(redactValue) : value;

/** Formats the configuration of sessions as YAML, with the origin of each value in a comment. */
export function formatServeConfig(loaded: LoadedServeConfig): string {
	const rows: Array<{readonly text: string; readonly from?: string}> = [];
	let parent: readonly string[] = [];
	for (const {path, value, from} of listServeConfigValues(loaded)) {
		for (let depth = 0; depth < path.length - 1; depth++)
			if (path.slice(0, depth + 1).join('\0') !== parent.slice(0, depth + 1).join('\0'))
				rows.push({text: `${'  '.repeat(depth)}${scalar(path[depth])}:`});
		parent = path.slice(0, -1);
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
