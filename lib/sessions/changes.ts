import type {AtmConfig} from '../atm/types.js';
import {isObject, type JsonObject, without} from '../protocol/json.js';
import {startOnly} from './argument-names.js';
import type {Settings} from './call-arguments.js';
import {settingsOf} from './codex-arguments.js';
import {Refusal} from './refusal.js';
import type {Session} from './session.js';
import type {SessionEntry} from './types.js';

/** Settings of a turn in the words of `codex`; `effort` is the reasoning effort. */
export type TurnSettings = JsonObject;

type Given = Pick<Settings, 'role' | 'forwarded'> & {
	/** The folder that the call names. */
	readonly folder: string | undefined;
};

/** The settings that a call gives to a session that goes on. */
export const turnSettings = (config: AtmConfig, {role, folder, forwarded}: Given): TurnSettings => ({
	...(role === undefined ? {} : roleSettings(config, role)),
	...(folder === undefined ? {} : {cwd: folder}),
	...forwarded,
});

function roleSettings(config: AtmConfig, role: string): TurnSettings {
	const {model, sandbox, approvalPolicy, reasoningEffort} = settingsOf(config, {role, role_named: true});
	const given = {model, sandbox, 'approval-policy': approvalPolicy, effort: reasoningEffort};
	return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The launch settings of a session after a call. The settings of a role that the call names replace earlier ones. */
export function launchAfter(launch: JsonObject, config: AtmConfig, {role, forwarded}: Settings): JsonObject {
	if (role === undefined) return {...launch, ...forwarded};
	const {effort, ...settings} = roleSettings(config, role);
	const kept = without(launch, ...Object.keys(settings));
	const isEffortKept = effort === undefined || !isObject(kept.config);
	const own = isEffortKept ? kept : {...kept, config: without(kept.config as JsonObject, EFFORT)};
	return {...own, ...forwarded};
}

/** The reasoning effort in the configuration of Codex. */
const EFFORT = 'model_reasoning_effort';

/** Rejects settings that differ from those of the session: this Codex has settings of a whole thread only. */
export function checkUnchanged({entry, launch}: Session, {role, folder, forwarded}: Given): void {
	const others = Object.entries(forwarded).filter(([name, value]) => launch[name] !== value);
	const names = [
		...(role === undefined || role === entry.role ? [] : ['role']),
		...(folder === undefined || folder === entry.cwd ? [] : ['cwd']),
		...others.map(([name]) => name),
	];
	if (names.length === 0) return;
	throw new Refusal(
		'invalid_params',
		`This Codex (mcp-server) sets ${names.join(', ')} when a session starts, and cannot change it in one that goes on. Leave it out, start a new session without codex_id, or use Codex 0.154 or later.`,
		{codex_id: entry.codex_id, arguments: names},
	);
}

/** Rejects instructions for a thread that Codex loads: it has those that it was started with. */
export function checkResumable({entry}: Session, forwarded: JsonObject): void {
	const name = startOnly.find(each => each !== 'config' && forwarded[each] !== undefined);
	if (name === undefined) return;
	const {codex_id: codexId, identity} = entry;
	throw new Refusal(
		'invalid_params',
		`This call resumes the session ${codexId} (${identity}), since bridge serve was started with --resume. ${name} is set when a session starts, and cannot change in one that goes on. Leave it out, or name another identity for a new session.`,
		{codex_id: codexId, identity, arguments: [name]},
	);
}

/** The labels that a call gives to a session, for the registry. */
export const labelsOf = ({tag, autoMail, role}: Settings): Partial<SessionEntry> => ({
	...(tag === undefined ? {} : {tag}),
	...(autoMail === undefined ? {} : {auto_mail: autoMail}),
	...(role === undefined ? {} : {role, role_named: true}),
});

/** All that a call can change of a session in the registry, as it is in this entry. */
export function changeable(entry: SessionEntry): Partial<SessionEntry> {
	// A member that is left out would keep its value in the file.
	const {tag, role, role_named = false, auto_mail = null, cwd, repo_root, repo_name, branch} = entry;
	return {tag, role, role_named, auto_mail, cwd, repo_root, repo_name, branch};
}
