import {BridgeError} from '../../core/errors.js';
import {printable, shortened} from '../../util/printable.js';
import type {ConfigLayer} from './layer.js';
import {coreSettings, environmentVariableOf, pluginSettings} from './settings.js';
import type {ServeFlags} from './types.js';
import {parseScalar, type SettingType, textType as textKind} from './value-types.js';

const settings = [...coreSettings, ...pluginSettings];

/** What variables say. Those that are empty count as not set; those that cannot be meant are told and left out. */
export function environmentLayer(
	env: NodeJS.ProcessEnv,
	cwd: string,
): {layer: ConfigLayer; warnings: string[]} {
	const layer: ConfigLayer = new Map();
	const warnings: string[] = [];
	for (const setting of settings) {
		// A variable could come from anywhere that started this process, so it vouches for nothing.
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

/** What flags say. One that cannot be meant is an error. */
export function flagLayer(flags: ServeFlags, cwd: string): ConfigLayer {
	const layer: ConfigLayer = new Map();
	for (const [flag, flagName, settingName] of flagSettings) {
		const {[flag]: raw} = flags;
		const setting = settings.find(({name}) => name === settingName);
		if (raw === undefined || !setting) continue;
		// Half a second is as good a limit on the command line as a whole one.
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

const parseAs = (text: string, kind: SettingType, cwd: string): unknown =>
	kind.parse(kind === textKind ? text : parseScalar(text), cwd) ?? kind.parse(text, cwd);
