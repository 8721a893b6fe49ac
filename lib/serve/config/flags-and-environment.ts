import {BridgeError} from '../../core/errors.js';
import {printable, shortened} from '../../util/printable.js';
import type {ConfigLayer} from './layer.js';
import {coreSettings, environmentVariableOf, pluginSettings} from './settings.js';
import type {ServeFlags} from './types.js';
import {parseScalar, type SettingType, textType} from './value-types.js';

const settings = [...coreSettings, ...pluginSettings];

/**
 * Reads the settings from environment variables. Empty ones count as unset. Invalid ones are ignored with a
 * warning.
 */
export function environmentLayer(
	env: NodeJS.ProcessEnv,
	cwd: string,
): {layer: ConfigLayer; warnings: string[]} {
	const layer: ConfigLayer = new Map();
	const warnings: string[] = [];
	for (const setting of settings) {
		// Any parent process can set a variable, so a variable cannot grant trust.
		if (setting.name === 'trustedDirectories') continue;
		const variable = environmentVariableOf(setting);
		const text = env[variable]?.trim();
		if (!text) continue;
		const value = parseAs(text, setting.type, cwd);
		const source = `$${variable}`;
		if (value === undefined) {
			warnings.push(`${source}: Expected ${setting.type.expected}. It is ignored.`);
			continue;
		}
		const warning = setting.type.warningFor?.(value);
		if (warning !== undefined) warnings.push(`${source}: ${warning}`);
		layer.set(setting.name, {value, source, key: source});
	}
	return {layer, warnings};
}

const flagSettings: ReadonlyArray<readonly [keyof ServeFlags, string, string]> = [
	['team', '--team', 'team'],
	['identity', '--identity', 'identity'],
	['role', '--role', 'role'],
	['model', '--model', 'model'],
	['sandbox', '--sandbox', 'sandbox'],
	['approvalPolicy', '--approval-policy', 'approvalPolicy'],
	['timeoutSecs', '--timeout', 'requestTimeoutSecs'],
];

/** Reads the settings from flags. Throws if a value is invalid. */
export function flagLayer(flags: ServeFlags, cwd: string): ConfigLayer {
	const layer: ConfigLayer = new Map();
	for (const [flag, flagName, settingName] of flagSettings) {
		const {[flag]: raw} = flags;
		const setting = settings.find(({name}) => name === settingName);
		if (raw === undefined || !setting) continue;
		// Unlike files, the flag accepts fractions of a second.
		const value = flag === 'timeoutSecs' ? raw : parseAs(String(raw), setting.type, cwd);
		if (value === undefined || setting.type.warningFor?.(value) !== undefined)
			throw new BridgeError(
				'ERR_CONFIG_INVALID',
				`${flagName} ${printable(shortened(String(raw)))} is not valid.`,
				`It has to be ${setting.type.expected}.`,
			);
		layer.set(settingName, {value, source: flagName, key: flagName});
	}
	return layer;
}

const parseAs = (text: string, type: SettingType, cwd: string): unknown =>
	type.parse(type === textType ? text : parseScalar(text), cwd) ?? type.parse(text, cwd);
