import {resolve} from 'node:path';
import type {JsonObject} from '../../util/json.js';

/** The arguments of `codex`, each with the name of its parameter in `codex app-server`. */
const paramNames: ReadonlyMap<string, string> = new Map([
	['model', 'model'],
	['cwd', 'cwd'],
	['sandbox', 'sandbox'],
	['approval-policy', 'approvalPolicy'],
	['config', 'config'],
	['base-instructions', 'baseInstructions'],
	['developer-instructions', 'developerInstructions'],
]);

/** Arguments without a parameter, each with its key in the configuration of Codex. */
const configKeys: ReadonlyMap<string, string> = new Map([['compact-prompt', 'compact_prompt']]);

const knownNames = ['prompt', ...paramNames.keys(), ...configKeys.keys()];

export const findUnknownArgument = (args: JsonObject): string | undefined =>
	Object.keys(args).find(name => !knownNames.includes(name));

export const knownArgumentList = knownNames.join(', ');

/**
 * Converts the arguments of `codex` to the params of `thread/start` or `thread/resume`. Resolves folders
 * against `cwd`.
 */
export function threadParams(args: JsonObject, cwd: string): JsonObject {
	const params: Record<string, unknown> = {};
	const config: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(args)) {
		const param = paramNames.get(name);
		const setting = configKeys.get(name);
		if (name === 'cwd' && typeof value === 'string') params.cwd = resolve(cwd, value);
		else if (param !== undefined) params[param] = value;
		else if (setting !== undefined) config[setting] = value;
	}
	if (Object.keys(config).length > 0) params.config = {...(params.config as object | undefined), ...config};
	return params;
}

/** The values of `sandbox`, each with the policy type that `turn/start` expects. */
const sandboxPolicyTypes: ReadonlyMap<unknown, string> = new Map([
	['read-only', 'readOnly'],
	['workspace-write', 'workspaceWrite'],
	['danger-full-access', 'dangerFullAccess'],
]);

/** Converts settings of a session to params of `turn/start`. They also apply to later turns. */
export function turnParams(args: JsonObject, cwd: string): JsonObject {
	const {sandbox, effort, ...others} = args;
	return {
		...threadParams(others, cwd),
		...(sandbox === undefined ? {} : {sandboxPolicy: {type: sandboxPolicyTypes.get(sandbox) ?? sandbox}}),
		...(effort === undefined ? {} : {effort}),
	};
}
