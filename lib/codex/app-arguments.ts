import {resolve} from 'node:path';
import type {JsonObject} from '../protocol/json.js';

/** The arguments of `codex`, and what `codex app-server` calls them. */
const names: ReadonlyMap<string, string> = new Map([
	['model', 'model'],
	['cwd', 'cwd'],
	['sandbox', 'sandbox'],
	['approval-policy', 'approvalPolicy'],
	['config', 'config'],
	['base-instructions', 'baseInstructions'],
	['developer-instructions', 'developerInstructions'],
]);

/** Arguments that Codex has in its configuration only. */
const settings: ReadonlyMap<string, string> = new Map([['compact-prompt', 'compact_prompt']]);

const known = ['prompt', ...names.keys(), ...settings.keys()];

/** The first argument that `codex` does not have, if there is one. */
export const strangerIn = (given: JsonObject): string | undefined =>
	Object.keys(given).find(name => !known.includes(name));

export const knownArguments = known.join(', ');

/** The arguments of a call of `codex` as the params of `thread/start`, or of `thread/resume`. Folders are seen from `cwd`. */
export function threadParams(given: JsonObject, cwd: string): JsonObject {
	const params: Record<string, unknown> = {};
	const config: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(given)) {
		const param = names.get(name);
		const setting = settings.get(name);
		if (name === 'cwd' && typeof value === 'string') params.cwd = resolve(cwd, value);
		else if (param !== undefined) params[param] = value;
		else if (setting !== undefined) config[setting] = value;
	}
	if (Object.keys(config).length > 0) params.config = {...(params.config as object | undefined), ...config};
	return params;
}

/** What `turn/start` calls the values of `sandbox`. */
const policies: ReadonlyMap<unknown, string> = new Map([
	['read-only', 'readOnly'],
	['workspace-write', 'workspaceWrite'],
	['danger-full-access', 'dangerFullAccess'],
]);

/** Settings of a session as params of `turn/start`. They hold for later turns, too. */
export function turnParams(given: JsonObject, cwd: string): JsonObject {
	const {sandbox, effort, ...others} = given;
	return {
		...threadParams(others, cwd),
		...(sandbox === undefined ? {} : {sandboxPolicy: {type: policies.get(sandbox) ?? sandbox}}),
		...(effort === undefined ? {} : {effort}),
	};
}
