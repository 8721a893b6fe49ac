import {isObject, type JsonObject, without} from '../../util/json.js';
import type {ServeConfig} from '../config/types.js';
import {resolveRoleSettings} from './codex-arguments.js';
import type {CodexSession} from './codex-session.js';
import type {CallSettings} from './parse-codex-call.js';
import {startOnlyArgumentNames} from './tool-arguments.js';
import {ToolError} from './tool-error.js';
import type {SessionEntry} from './types.js';

/** Settings of a turn in the words of `codex`; `effort` is the reasoning effort. */
export type TurnSettings = JsonObject;

type RequestedSettings = Pick<CallSettings, 'role' | 'forwarded'> & {
	/** The folder that the call names. */
	readonly folder: string | undefined;
};

/** The settings that a call gives to a session that goes on. */
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

/** The launch settings of a session after a call. The settings of a role that the call names replace earlier ones. */
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

/** The reasoning effort in the configuration of Codex. */
const EFFORT_KEY = 'model_reasoning_effort';

/** Rejects settings that differ from those of the session: this Codex has settings of a whole thread only. */
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
		`This Codex (mcp-server) sets ${names.join(', ')} when a session starts, and cannot change it in one that goes on. Leave it out, start a new session without codex_id, or use Codex 0.154 or later.`,
		{codex_id: entry.codex_id, arguments: names},
	);
}

/** Rejects instructions for a thread that Codex loads: it has those that it was started with. */
export function assertNoStartOnlyArguments({entry}: CodexSession, forwarded: JsonObject): void {
	const name = startOnlyArgumentNames.find(each => each !== 'config' && forwarded[each] !== undefined);
	if (name === undefined) return;
	const {codex_id: codexId, identity} = entry;
	throw new ToolError(
		'invalid_params',
		`This call resumes the session ${codexId} (${identity}), since bridge serve was started with --resume. ${name} is set when a session starts, and cannot change in one that goes on. Leave it out, or name another identity for a new session.`,
		{codex_id: codexId, identity, arguments: [name]},
	);
}

/** The labels that a call gives to a session, for the registry. */
export const labelPatch = ({tag, autoMail, role}: CallSettings): Partial<SessionEntry> => ({
	...(tag === undefined ? {} : {tag}),
	...(autoMail === undefined ? {} : {auto_mail: autoMail}),
	...(role === undefined ? {} : {role, role_named: true}),
});

/** All that a call can change of a session in the registry, as it is in this entry. */
export function changeableFields(entry: SessionEntry): Partial<SessionEntry> {
	// A member that is left out would keep its value in the file.
	const {tag, role, role_named = false, auto_mail = null, cwd, repo_root, repo_name, branch} = entry;
	return {tag, role, role_named, auto_mail, cwd, repo_root, repo_name, branch};
}
