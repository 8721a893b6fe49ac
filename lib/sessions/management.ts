import {randomUUID} from 'node:crypto';
import type {Figures} from '../mail/figures.js';
import type {JsonObject} from '../protocol/json.js';
import {invalid, text} from './argument-names.js';
import {hasAutoMail} from './auto-mail.js';
import type {Journal} from './journal.js';
import type {OwnTool} from './own-tool.js';
import {Refusal} from './refusal.js';
import type {Sessions} from './sessions.js';
import type {TurnRunner} from './turn-runner.js';
import type {SessionEntry} from './types.js';

/** How Codex is doing. */
export type ChildState = {
	readonly isAlive: boolean;
	readonly backend: string;
	readonly exitCode?: number | null;
	readonly signal?: string | null;
};

export type ManagementOptions = {
	readonly sessions: Sessions;
	readonly runner: TurnRunner;
	readonly journal: Journal;
	readonly child: () => ChildState;
	readonly office: {readonly figures: Figures; pending(): Promise<number>};
	readonly now?: () => Date;
};

/** So many closed sessions are recent. */
const RECENT = 20;

/** The tools that look at sessions and end them. They work without Codex, too. */
export function managementTools(options: ManagementOptions): ReadonlyMap<string, OwnTool> {
	const startedAt = (options.now ?? (() => new Date()))();
	return new Map<string, OwnTool>([
		['codex_threads', args => threads(options.sessions, args)],
		['codex_status', () => status(options, startedAt)],
		['codex_close', args => close(options, args)],
	]);
}

async function threads(sessions: Sessions, args: JsonObject): Promise<JsonObject> {
	const identity = text(args, 'identity');
	const closed = args.include_closed ?? undefined;
	if (closed !== undefined && typeof closed !== 'boolean') throw invalid('include_closed is true or false.');
	await sessions.registry.refresh();
	const entries = sessions
		.entries()
		.filter(entry => identity === undefined || entry.identity === identity)
		.toSorted((one, other) => other.last_active.localeCompare(one.last_active));
	const isOver = ({status}: SessionEntry): boolean => status === 'closed' || status === 'interrupted';
	const over = entries.filter(isOver);
	const shown = closed === false ? [] : closed === true ? over : over.slice(0, RECENT);
	const listed = entries.filter(entry => !isOver(entry) || shown.includes(entry));
	const shownOf = (entry: SessionEntry): JsonObject => ({
		...entry,
		auto_mail: hasAutoMail(sessions.config, entry),
		resumable: entry.status !== 'active',
	});
	return {threads: listed.map(shownOf)};
}

async function status(
	{sessions, child, office, now = () => new Date()}: ManagementOptions,
	startedAt: Date,
): Promise<JsonObject> {
	const {live, registry, config} = sessions;
	const {isAlive, backend, exitCode, signal} = child();
	const busy = live.filter(({entry}) => entry.state === 'busy').length;
	const health = registry.health();
	const pending = await office.pending();
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
		mail: {...office.figures, pending},
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
		...(health.problem === undefined ? {} : {persist_problem: health.problem}),
		...(health.keptAside === undefined ? {} : {registry_kept_aside: health.keptAside}),
	};
}

async function close({sessions, runner, journal}: ManagementOptions, args: JsonObject): Promise<JsonObject> {
	const {codex_id: codexId, identity} = args;
	const ref = codexId ?? identity;
	if (typeof ref !== 'string' || ref === '' || (codexId !== undefined && identity !== undefined))
		throw new Refusal('invalid_params', 'codex_close needs codex_id or identity, one of the two, as a text.');
	const correlationId = randomUUID();
	const session = sessions.liveOne(ref);
	if (!session) {
		await sessions.registry.refresh();
		const entry = sessions.known(ref);
		if (entry.status === 'active') throw elsewhere(entry);
		const about = {codexId: entry.codex_id, identity: entry.identity};
		journal.closed(correlationId, about, 'already_closed');
		return {closed: true, codex_id: entry.codex_id, identity: entry.identity, status: 'already_closed'};
	}
	journal.closed(correlationId, session, 'started');
	const ending = await runner.close(session);
	journal.closed(correlationId, session, ending);
	return {closed: true, codex_id: session.codexId, identity: session.identity, status: ending};
}

const elsewhere = ({codex_id: codexId, identity}: SessionEntry): Refusal =>
	new Refusal(
		'session_not_found',
		`The session ${codexId} (${identity}) belongs to another bridge serve, which alone can close it.`,
		{codex_id: codexId, identity},
	);
