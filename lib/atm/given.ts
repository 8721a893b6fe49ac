import {BridgeError} from '../errors.js';
import {printable, shortened} from '../printable.js';
import {fromText, type Kind, text as textKind} from './kinds.js';
import type {Layer} from './layer.js';
import {coreSettings, pluginSettings, variableOf} from './settings.js';
import type {AtmFlags} from './types.js';

const settings = [...coreSettings, ...pluginSettings];

/** What variables say. Those that are empty count as not set; those that cannot be meant are told and left out. */
export function environmentLayer(env: NodeJS.ProcessEnv, cwd: string): {layer: Layer; warnings: string[]} {
	const layer: Layer = new Map();
	const warnings: string[] = [];
	for (const setting of settings) {
		// A variable could come from anywhere that started this process, so it vouches for nothing.
		if (setting.name === 'trustedDirectories') continue;
		const variable = variableOf(setting);
		const text = env[variable]?.trim();
		if (!text) continue;
		const value = readAs(text, setting.kind, cwd);
		const from = `$${variable}`;
		if (value === undefined) {
			warnings.push(`${from}: Expected ${setting.kind.expected}. It is ignored.`);
			continue;
		}
		const problem = setting.kind.problemOf?.(value);
		if (problem !== undefined) warnings.push(`${from}: ${problem}`);
		layer.set(setting.name, {value, from, key: from});
	}
	return {layer, warnings};
}

const flags: ReadonlyArray<readonly [keyof AtmFlags, string, string]> = [
	['team', '--team', 'team'],
	['identity', '--identity', 'identity'],
	['role', '--role', 'role'],
	['model', '--model', 'model'],
	['sandbox', '--sandbox', 'sandbox'],
	['approvalPolicy', '--approval-policy', 'approvalPolicy'],
	['timeoutSecs', '--timeout', 'requestTimeoutSecs'],
];

/** What flags say. One that cannot be meant is an error. */
export function flagLayer(given: AtmFlags, cwd: string): Layer {
	const layer: Layer = new Map();
	for (const [flag, typed, to] of flags) {
		const {[flag]: raw} = given;
		const setting = settings.find(({name}) => name === to);
		if (raw === undefined || !setting) continue;
		// Half a second is as good a limit on the command line as a whole one.
		const value = flag === 'timeoutSecs' ? raw : readAs(String(raw), setting.kind, cwd);
		if (value === undefined || setting.kind.problemOf?.(value) !== undefined)
			throw new BridgeError(
				'ERR_CONFIG_INVALID',
				`${typed} ${printable(shortened(String(raw)))} is not valid.`,
				`It has to be ${setting.kind.expected}.`,
			);
		layer.set(to, {value, from: typed, key: typed});
	}
	return layer;
}

const readAs = (text: string, kind: Kind, cwd: string): unknown =>
	kind.read(kind === textKind ? text : fromText(text), cwd) ?? kind.read(text, cwd);
