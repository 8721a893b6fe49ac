import {isObject, type JsonObject, without} from '../../util/json.js';
import type {ServeConfig} from '../config/types.js';
import {resolveRoleSettings} from './codex-arguments.js';
import type {CodexSession} from './codex-session.js';
import type {CallSettings} from './parse-codex-call.js';
import {startOnlyArgumentNames} from './tool-arguments.js';
import {ToolError} from './tool-error.js';
import type {SessionEntry} from './types.js';

/** Settings of a turn, with the argument names of `codex`. `effort` is the reasoning effort. */
export type TurnSettings = JsonObject;

type RequestedSettings = Pick<CallSettings, 'role' | 'forwarded'> & {
	readonly folder: string | undefined;
};

/** Returns the settings that a call requests for an existing session. */
export const requestedTurnSettings = (
	config: ServeConfig,
	{role, folder, forwarded}: RequestedSettings,
): TurnSettings => ({
	...(role === undefined ? {} : roleSettings(config, role)),
	...(folder === undefined ? {} : {cwd: folder}),
	...forwarded,
});

function roleSettings(config: ServeConfig, role: string): TurnSettings {
	const {model, sandbox, approvalPolicy, reasoningEffort} = resolveRoleSettings(config, {
		role,
		role_named: true,
	});
	const settings = {model, sandbox, 'approval-policy': approvalPolicy, effort: reasoningEffort};
	return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** Merges the arguments of a call into those of the start. A role replaces the settings that it defines. */
export function mergeLaunchArguments(
	launchArguments: JsonObject,
	config: ServeConfig,
	{role, forwarded}: CallSettings,
): JsonObject {
	if (role === undefined) return {...launchArguments, ...forwarded};
	const {effort, ...settings} = roleSettings(config, role);
	const remaining = without(launchArguments, ...Object.keys(settings));
	const isEffortUnchanged = effort === undefined || !isObject(remaining.config);
	const base = isEffortUnchanged
		? remaining
		: {...remaining, config: without(remaining.config as JsonObject, EFFORT_KEY)};
	return {...base, ...forwarded};
}

/** The key of the reasoning effort in Codex's configuration. */
const EFFORT_KEY = 'model_reasoning_effort';

/** Rejects changed settings. `codex mcp-server` can set them only when a thread starts. */
export function assertSettingsUnchanged(
	{entry, launchArguments}: CodexSession,
	{role, folder, forwarded}: RequestedSettings,
): void {
	const changedArguments = Object.entries(forwarded).filter(
		([name, value]) => launchArguments[name] !== value,
	);
	const names = [
		...(role === undefined || role === entry.role ? [] : ['role']),
		...(folder === undefined || folder === entry.cwd ? [] : ['cwd']),
		...changedArguments.map(([name]) => name),
	];
	if (names.length === 0) return;
	throw new ToolError(
		'invalid_params',
		`This Codex (mcp-server) sets ${names.join(', ')} when a session starts and cannot change it later. Omit it, start a new session without codex_id, or use Codex 0.154 or later.`,
		{codex_id: entry.codex_id, arguments: names},
	);
}

/** Rejects instructions for a loaded thread. It keeps those that it was started with. */
export function assertNoStartOnlyArguments({entry}: CodexSession, forwarded: JsonObject): void {
	const name = startOnlyArgumentNames.find(each => each !== 'config' && forwarded[each] !== undefined);
	if (name === undefined) return;
	const {codex_id: codexId, identity} = entry;
	throw new ToolError(
		'invalid_params',
		`This call resumes the session ${codexId} (${identity}), since bridge serve was started with --resume. ${name} is set when a session starts and cannot be changed later. Omit it, or pass another identity to start a new session.`,
		{codex_id: codexId, identity, arguments: [name]},
	);
}

/** Returns the changes of a call to tag, role and auto_mail. */
export const labelPatch = ({tag, autoMail, role}: CallSettings): Partial<SessionEntry> => ({
	...(tag === undefined ? {} : {tag}),
	...(autoMail === undefined ? {} : {auto_mail: autoMail}),
	...(role === undefined ? {} : {role, role_named: true}),
});

/** Returns the members of an entry that a call can change, to restore them. */
export function changeableFields(entry: SessionEntry): Partial<SessionEntry> {
	// Explicit defaults: an omitted member would keep its value in the file.
	const {tag, role, role_named = false, auto_mail = null, cwd, repo_root, repo_name, branch} = entry;
	return {tag, role, role_named, auto_mail, cwd, repo_root, repo_name, branch};
}
