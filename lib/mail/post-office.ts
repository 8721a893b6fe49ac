import {randomUUID} from 'node:crypto';
import {readdir} from 'node:fs/promises';
import {isName} from '../atm/names.js';
import type {Log} from '../log.js';
import type {Admissions} from '../sessions/admission.js';
import {hasAutoMail} from '../sessions/auto-mail.js';
import {holderIn} from '../sessions/identity-locks.js';
import type {TurnOver} from '../sessions/job.js';
import type {Journal} from '../sessions/journal.js';
import type {Session} from '../sessions/session.js';
import type {Sessions} from '../sessions/sessions.js';
import type {TurnRunner} from '../sessions/turn-runner.js';
import type {Source} from '../sessions/turns.js';
import {Carrier, type TurnEnd, type TurnFollower} from './carrier.js';
import type {DeliveryRules} from './delivery.js';
import {type Figures, noFigures} from './figures.js';
import {Ledger} from './ledger.js';
import {mailFacts, mailPrompt} from './letter.js';
import type {Mail} from './mail.js';
import {comeAgain, MailRecordFile} from './mail-record.js';
import {type MailNews, newsParams} from './news.js';
import {findTeam} from './roster.js';
import {shutdownApproved} from './shutdown.js';
import type {Message} from './types.js';

export type PostOfficeOptions = {
	readonly sessions: Sessions;
	readonly runner: TurnRunner;
	readonly admissions: Admissions;
	readonly journal: Journal;
	readonly mail: Mail;
	readonly log: Log;
	/** Whether bridge is about to end. */
	readonly isEnding: () => boolean;
};

/** What the client is told of mail. */
export type Tell = (params: ReturnType<typeof newsParams>) => void;

/** Brings the sessions their mail: after each turn, and every few seconds while they have nothing to do. */
export class PostOffice {
	readonly figures: Figures = noFigures();
	readonly #options: PostOfficeOptions;
	/** Of sessions that are active, and of others until all is written that is to be known of their mail. */
	readonly #carriers = new Map<Session, Carrier>();
	#tell: Tell = () => {};
	#timer: NodeJS.Timeout | undefined;
	#turns = 0;

	constructor(options: PostOfficeOptions) {
		this.#options = options;
		options.runner.onTurnOver = ({session, turn}) => this.#turnOver(session, turn.source);
	}

	/** Says how the client is told. */
	attach(tell: Tell): void {
		this.#tell = tell;
	}

	/** Begins to look for mail. What another process had under way when it ended is unread again. */
	async start(): Promise<void> {
		this.#lookLater();
		const {sessions, mail, log} = this.#options;
		const {folder} = sessions.registry;
		const found = await readdir(folder, {withFileTypes: true}).catch(() => []);
		for (const {name} of found.filter(item => item.isDirectory() && isName(item.name))) {
			if (sessions.liveOne(name) || (await holderIn(folder, name))) continue;
			await comeAgain(new MailRecordFile(folder, name), mail.inbox(name)).catch((error: Error) => {
				log.warn('mail.trouble', `Mail of ${name} waits: ${error.message}`, {identity: name});
			});
		}
	}

	/** No more turns; all that is known is written when this resolves. */
	async close(): Promise<void> {
		clearTimeout(this.#timer);
		await Promise.all([...this.#carriers.values()].map(carrier => carrier.settled()));
	}

	/** How many messages of active sessions are not read. */
	async pending(): Promise<number> {
		const counts = this.#options.sessions.live.map(session => this.#carrierOf(session).pending());
		return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
	}

	#lookLater(): void {
		const {sessions} = this.#options;
		this.#timer = setTimeout(() => {
			const live = new Set(sessions.live);
			for (const session of live) void this.#carrierOf(session).look();
			for (const [session, carrier] of this.#carriers)
				if (!live.has(session)) void carrier.settled().then(() => this.#carriers.delete(session));
			this.#lookLater();
		}, sessions.config.mailPollIntervalMs).unref();
	}

	#turnOver(session: Session, source: Source): void {
		if (!this.#options.sessions.liveOne(session.codexId)) return;
		const carrier = this.#carrierOf(session);
		if (source === 'client') carrier.clientSpoke();
		void carrier.look();
	}

	#carrierOf(session: Session): Carrier {
		const known = this.#carriers.get(session);
		if (known) return known;
		const {log, mail, sessions} = this.#options;
		const {identity} = session;
		const record = new MailRecordFile(sessions.registry.folder, identity);
		const carrier = new Carrier({
			identity,
			log,
			figures: this.figures,
			now: Date.now,
			ledger: new Ledger({identity, inbox: mail.inbox(identity), record, log}),
			rules: () => this.#rulesFor(session),
			isAutomatic: () => hasAutoMail(sessions.config, session.entry),
			isFree: () => session.isFree && !this.#options.isEnding(),
			begin: (letters, follower) => this.#begin(session, letters, follower),
			close: request => this.#close(session, request),
			tell: (news: MailNews) => this.#tell(newsParams(news, session.codexId)),
		});
		this.#carriers.set(session, carrier);
		return carrier;
	}

	async #rulesFor({identity, since}: Session): Promise<DeliveryRules> {
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

	#begin(session: Session, letters: readonly Message[], follower: TurnFollower): void {
		const {runner, admissions, sessions} = this.#options;
		const {team, maxMailMessageLength: maxLength, atmTools: hasTools} = sessions.config;
		const prompt = mailPrompt(letters, {identity: session.identity, team, hasTools, maxLength});
		const {arguments: args, accepted} = admissions.reply(session, prompt);
		const turn = {id: `mail-${++this.#turns}`, source: 'mail'} as const;
		runner.ask({
			...accepted,
			...mailFacts(letters),
			arguments: args,
			tool: 'codex-reply',
			turn,
			answer: (_, how) => follower.over(endOf(how, session)),
			onStarted: () => follower.started(),
		});
	}

	#close(session: Session, request: Message): void {
		const {runner, journal, log, mail} = this.#options;
		const {identity, codexId} = session;
		const correlationId = randomUUID();
		log.info('mail.shutdown', `${identity} is closed, since the lead asks for it.`, {
			identity,
			codex_id: codexId,
		});
		journal.closed(correlationId, session, 'shutdown_request');
		// Its end waits for the turns of the session, and is not waited for by its mail.
		void runner.close(session).then(async ending => {
			journal.closed(correlationId, session, ending);
			const text = shutdownApproved(request, identity, new Date());
			await mail.send(identity, request.from, {text, summary: 'Shut down'}).catch((error: Error) => {
				const sentence = `${request.from} could not be told that ${identity} is closed: ${error.message}`;
				log.warn('mail.not_sent', sentence, {identity});
			});
		});
	}
}

/** What is stopped since its session ends is nobody's failure. */
function endOf(how: TurnOver, {closing}: Session): TurnEnd {
	if (how === 'completed' || how === 'gone') return how;
	if (how === 'closed' || how === 'full' || how === 'cancelled' || closing !== undefined) return 'refused';
	return how === 'interrupted' ? how : 'failed';
}
