import {randomUUID} from 'node:crypto';
import {readdir} from 'node:fs/promises';
import type {Log} from '../../core/log.js';
import {isSafeName} from '../names.js';
import type {AuditLog} from '../sessions/audit-log.js';
import {hasAutoMail} from '../sessions/auto-mail.js';
import type {CodexSession} from '../sessions/codex-session.js';
import type {CodexSessions} from '../sessions/codex-sessions.js';
import {findIdentityOwner} from '../sessions/identity-locks.js';
import type {SessionRouter} from '../sessions/session-router.js';
import type {TurnSource} from '../sessions/turn-queue.js';
import type {TurnOutcome} from '../sessions/turn-run.js';
import type {TurnRunner} from '../sessions/turn-runner.js';
import {createMailCounters, type MailCounters} from './counters.js';
import type {DeliveryRules} from './delivery.js';
import {DeliveryStateFile, requeueInProgress} from './delivery-state-file.js';
import {DeliveryStore} from './delivery-store.js';
import {DeliveryWorker, type MailTurnObserver, type MailTurnOutcome} from './delivery-worker.js';
import type {Mail} from './mail.js';
import {type MailNotification, mailLogParams} from './notification.js';
import {mailAuditFields, mailPrompt} from './prompt.js';
import {findTeam} from './roster.js';
import {shutdownApproval} from './shutdown-reply.js';
import type {MailMessage} from './types.js';

type MailSchedulerOptions = {
	readonly sessions: CodexSessions;
	readonly runner: TurnRunner;
	readonly sessionRouter: SessionRouter;
	readonly auditLog: AuditLog;
	readonly mail: Mail;
	readonly log: Log;
	readonly isShuttingDown: () => boolean;
};

type NotifyClient = (params: ReturnType<typeof mailLogParams>) => void;

/** Delivers mail to sessions: after each turn, and every few seconds while a session is idle. */
export class MailScheduler {
	readonly counters: MailCounters = createMailCounters();
	readonly #options: MailSchedulerOptions;
	/** The workers of active sessions, and of closed ones until their state is written. */
	readonly #workers = new Map<CodexSession, DeliveryWorker>();
	#notifyClient: NotifyClient = () => {};
	#timer: NodeJS.Timeout | undefined;
	#turns = 0;

	constructor(options: MailSchedulerOptions) {
		this.#options = options;
		options.runner.onTurnEnded = ({session, turn}) => this.#onTurnEnded(session, turn.source);
	}

	attach(notify: NotifyClient): void {
		this.#notifyClient = notify;
	}

	/** Starts polling, and requeues deliveries that an earlier process left in progress. */
	async start(): Promise<void> {
		this.#schedulePoll();
		const {sessions, mail, log} = this.#options;
		const {folder} = sessions.registry;
		const found = await readdir(folder, {withFileTypes: true}).catch(() => []);
		for (const {name} of found.filter(item => item.isDirectory() && isSafeName(item.name))) {
			if (sessions.findLive(name) || (await findIdentityOwner(folder, name))) continue;
			await requeueInProgress(new DeliveryStateFile(folder, name), mail.inbox(name)).catch((error: Error) => {
				log.warn('mail.trouble', `Delivery of mail to ${name} is delayed: ${error.message}`, {
					identity: name,
				});
			});
		}
	}

	/** Stops polling. Resolves when all state is written. */
	async close(): Promise<void> {
		clearTimeout(this.#timer);
		await Promise.all([...this.#workers.values()].map(worker => worker.settled()));
	}

	/** The number of unread messages of active sessions. */
	async pending(): Promise<number> {
		const counts = this.#options.sessions.live.map(session => this.#workerFor(session).pending());
		return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
	}

	#schedulePoll(): void {
		const {sessions} = this.#options;
		this.#timer = setTimeout(() => {
			const live = new Set(sessions.live);
			for (const session of live) void this.#workerFor(session).poll();
			for (const [session, worker] of this.#workers)
				if (!live.has(session)) void worker.settled().then(() => this.#workers.delete(session));
			this.#schedulePoll();
		}, sessions.config.mailPollIntervalMs).unref();
	}

	#onTurnEnded(session: CodexSession, source: TurnSource): void {
		if (!this.#options.sessions.findLive(session.codexId)) return;
		const worker = this.#workerFor(session);
		if (source === 'client') worker.onClientTurn();
		void worker.poll();
	}

	#workerFor(session: CodexSession): DeliveryWorker {
		const existing = this.#workers.get(session);
		if (existing) return existing;
		const {log, mail, sessions} = this.#options;
		const {identity} = session;
		const stateFile = new DeliveryStateFile(sessions.registry.folder, identity);
		const worker = new DeliveryWorker({
			identity,
			log,
			counters: this.counters,
			now: Date.now,
			store: new DeliveryStore({identity, inbox: mail.inbox(identity), stateFile, log}),
			rules: () => this.#rulesFor(session),
			isAutoMailEnabled: () => hasAutoMail(sessions.config, session.entry),
			isIdle: () => session.isIdle && !this.#options.isShuttingDown(),
			startTurn: (messages, observer) => this.#startTurn(session, messages, observer),
			closeSession: request => this.#closeSession(session, request),
			notify: (notification: MailNotification) =>
				this.#notifyClient(mailLogParams(notification, session.codexId)),
		});
		this.#workers.set(session, worker);
		return worker;
	}

	async #rulesFor({identity, openedAtMs: since}: CodexSession): Promise<DeliveryRules> {
		const {claude, team, maxMailMessages, maxMailTurns, mailQuietSecs, mailPollIntervalMs} =
			this.#options.sessions.config;
		const roster = await findTeam(claude, team).catch(() => undefined);
		return {
			identity,
			team,
			since,
			lead: roster?.members.find(({isLead}) => isLead)?.name,
			maxMessages: maxMailMessages,
			maxStreak: maxMailTurns,
			quietMs: mailQuietSecs * 1000,
			backOffMs: mailPollIntervalMs,
		};
	}

	#startTurn(session: CodexSession, messages: readonly MailMessage[], observer: MailTurnObserver): void {
		const {runner, sessionRouter, sessions} = this.#options;
		const {team, maxMailMessageLength: maxLength, atmTools: hasTools} = sessions.config;
		const prompt = mailPrompt(messages, {identity: session.identity, team, hasTools, maxLength});
		const {arguments: args, acceptedCall} = sessionRouter.prepareReply(session, prompt);
		const turn = {id: `mail-${++this.#turns}`, source: 'mail'} as const;
		runner.submit({
			...acceptedCall,
			...mailAuditFields(messages),
			arguments: args,
			tool: 'codex-reply',
			turn,
			respond: (_, outcome) => observer.onEnded(turnOutcome(outcome, session)),
			onStarted: () => observer.onStarted(),
		});
	}

	#closeSession(session: CodexSession, request: MailMessage): void {
		const {runner, auditLog, log, mail} = this.#options;
		const {identity, codexId} = session;
		const correlationId = randomUUID();
		log.info('mail.shutdown', `Closing ${identity} at the request of the lead.`, {
			identity,
			codex_id: codexId,
		});
		auditLog.sessionClosed(correlationId, session, 'shutdown_request');
		// Not awaited: closing waits for the running turn, which may be a mail turn.
		void runner.close(session).then(async ending => {
			auditLog.sessionClosed(correlationId, session, ending);
			const text = shutdownApproval(request, identity, new Date());
			await mail.send(identity, request.from, {text, summary: 'Shut down'}).catch((error: Error) => {
				const warning = `The reply to ${request.from} that ${identity} was closed could not be sent: ${error.message}`;
				log.warn('mail.not_sent', warning, {identity});
			});
		});
	}
}

/**
 * Converts the outcome of a turn. A turn that stopped because its session closes does not count as a failed
 * delivery.
 */
function turnOutcome(outcome: TurnOutcome, {closing}: CodexSession): MailTurnOutcome {
	if (outcome === 'completed' || outcome === 'gone') return outcome;
	if (outcome === 'closed' || outcome === 'full' || outcome === 'cancelled' || closing !== undefined)
		return 'refused';
	return outcome === 'interrupted' ? outcome : 'failed';
}
