import {resolve} from 'node:path';
import type {JsonObject} from '../../util/json.js';

/** The arguments of `codex`, and what `codex app-server` calls them. */
const paramNames: ReadonlyMap<string, string> = new Map([
	['model', 'model'],
	['cwd', 'cwd'],
	['sandbox', 'sandbox'],
	['approval-policy', 'approvalPolicy'],
	['config', 'config'],
	['base-instructions', 'baseInstructions'],
	['developer-instructions', 'developerInstructions'],
]);

/** Arguments that Codex has in its configuration only. */
const configKeys: ReadonlyMap<string, string> = new Map([['compact-prompt', 'compact_prompt']]);

const knownNames = ['prompt', ...paramNames.keys(), ...configKeys.keys()];

/** The first argument that `codex` does not have, if there is one. */
export const findUnknownArgument = (args: JsonObject): string | undefined =>
	Object.keys(args).find(name => !knownNames.includes(name));

export const knownArgumentList = knownNames.join(', ');

/** The arguments of a call of `codex` as the params of `thread/start`, or of `thread/resume`. Folders are seen from `cwd`. */
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

/** What `turn/start` calls the values of `sandbox`. */
const sandboxPolicyTypes: ReadonlyMap<unknown, string> = new Map([
	['read-only', 'readOnly'],
	['workspace-write', 'workspaceWrite'],
	['danger-full-access', 'dangerFullAccess'],
]);

/** Settings of a session as params of `turn/start`. They hold for later turns, too. */
export function turnParams(args: JsonObject, cwd: string): JsonObject {
	const {sandbox, effort, ...others} = args;
	return {
		...threadParams(others, cwd),
		...(sandbox === undefined ? {} : {sandboxPolicy: {type: sandboxPolicyTypes.get(sandbox) ?? sandbox}}),
		...(effort === undefined ? {} : {effort}),
	};
}
