import {randomUUID} from 'node:crypto';
import type {JsonObject} from '../../util/json.js';
import type {MailCounters} from '../mail/counters.js';
import type {AuditLog} from './audit-log.js';
import {hasAutoMail} from './auto-mail.js';
import type {BridgeTool} from './bridge-tools.js';
import type {CodexSessions} from './codex-sessions.js';
import {invalidParams, textArgument} from './tool-arguments.js';
import {ToolError} from './tool-error.js';
import type {TurnRunner} from './turn-runner.js';
import type {SessionEntry} from './types.js';

export type CodexProcessState = {
	readonly isAlive: boolean;
	readonly backend: string;
	readonly exitCode?: number | null;
	readonly signal?: string | null;
};

type ManagementOptions = {
	readonly sessions: CodexSessions;
	readonly runner: TurnRunner;
	readonly auditLog: AuditLog;
	readonly codexState: () => CodexProcessState;
	readonly mailScheduler: {readonly counters: MailCounters; pending(): Promise<number>};
	readonly now?: () => Date;
};

/** Number of ended sessions that `codex_threads` lists by default. */
const MAX_RECENT_CLOSED = 20;

/** The tools that list and close sessions. They also work when Codex is not running. */
export function managementTools(options: ManagementOptions): ReadonlyMap<string, BridgeTool> {
	const startedAt = (options.now ?? (() => new Date()))();
	return new Map<string, BridgeTool>([
		['codex_threads', args => listThreads(options.sessions, args)],
		['codex_status', () => getStatus(options, startedAt)],
		['codex_close', args => closeSession(options, args)],
	]);
}

async function listThreads(sessions: CodexSessions, args: JsonObject): Promise<JsonObject> {
	const identity = textArgument(args, 'identity');
	const includeClosed = args.include_closed ?? undefined;
	if (includeClosed !== undefined && typeof includeClosed !== 'boolean')
		throw invalidParams('include_closed must be true or false.');
	await sessions.registry.refresh();
	const entries = sessions
		.entries()
		.filter(entry => identity === undefined || entry.identity === identity)
		.toSorted((one, other) => other.last_active.localeCompare(one.last_active));
	const isEnded = ({status}: SessionEntry): boolean => status === 'closed' || status === 'interrupted';
	const ended = entries.filter(isEnded);
	const shownEnded =
		includeClosed === false ? [] : includeClosed === true ? ended : ended.slice(0, MAX_RECENT_CLOSED);
	const listed = entries.filter(entry => !isEnded(entry) || shownEnded.includes(entry));
	const toThread = (entry: SessionEntry): JsonObject => ({
		...entry,
		auto_mail: hasAutoMail(sessions.config, entry),
		resumable: entry.status !== 'active',
	});
	return {threads: listed.map(toThread)};
}

async function getStatus(
	{sessions, codexState, mailScheduler, now = () => new Date()}: ManagementOptions,
	startedAt: Date,
): Promise<JsonObject> {
	const {live, registry, config} = sessions;
	const {isAlive, backend, exitCode, signal} = codexState();
	const busy = live.filter(({entry}) => entry.state === 'busy').length;
	const health = registry.health();
	const pending = await mailScheduler.pending();
	return {
		child_alive: isAlive,
		backend,
		...(isAlive ? {} : {exit_code: exitCode ?? null, signal: signal ?? null}),
		team: config.team,
		started_at: startedAt.toISOString(),
		uptime_secs: Math.floor((now().getTime() - startedAt.getTime()) / 1000),
		active_thread_count: live.length,
		busy_thread_count: busy,
		idle_thread_count: live.length - busy,
		max_concurrent_threads: config.maxConcurrentThreads,
		pending_mail_count: pending,
		mail: {...mailScheduler.counters, pending},
		identity_map: Object.fromEntries(
			live.map(({identity, codexId, threadId, entry}) => [
				identity,
				{
					codex_id: codexId,
					thread_id: threadId,
					state: entry.state,
					tag: entry.tag,
					auto_mail: hasAutoMail(config, entry),
				},
			]),
		),
		persist: health.persist,
		...(health.lastError === undefined ? {} : {persist_problem: health.lastError}),
		...(health.corruptFile === undefined ? {} : {registry_kept_aside: health.corruptFile}),
	};
}

async function closeSession(
	{sessions, runner, auditLog}: ManagementOptions,
	args: JsonObject,
): Promise<JsonObject> {
	const {codex_id: codexId, identity} = args;
	const ref = codexId ?? identity;
	if (typeof ref !== 'string' || ref === '' || (codexId !== undefined && identity !== undefined))
		throw new ToolError('invalid_params', 'codex_close requires either codex_id or identity, as a string.');
	const correlationId = randomUUID();
	const session = sessions.findLive(ref);
	if (!session) {
		await sessions.registry.refresh();
		const entry = sessions.requireEntry(ref);
		if (entry.status === 'active') throw remoteSessionError(entry);
		const ids = {codexId: entry.codex_id, identity: entry.identity};
		auditLog.sessionClosed(correlationId, ids, 'already_closed');
		return {closed: true, codex_id: entry.codex_id, identity: entry.identity, status: 'already_closed'};
	}
	auditLog.sessionClosed(correlationId, session, 'started');
	const ending = await runner.close(session);
	auditLog.sessionClosed(correlationId, session, ending);
	return {closed: true, codex_id: session.codexId, identity: session.identity, status: ending};
}

const remoteSessionError = ({codex_id: codexId, identity}: SessionEntry): ToolError =>
	new ToolError(
		'session_not_found',
		`The session ${codexId} (${identity}) belongs to another bridge serve. Close it there.`,
		{codex_id: codexId, identity},
	);
