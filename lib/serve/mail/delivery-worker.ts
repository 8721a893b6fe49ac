import type {Log} from '../../core/log.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {pause} from '../../util/pause.js';
import type {MailCounters} from './counters.js';
import {
	type DeliveryRules,
	type DeliveryState,
	hasExhaustedAttempts,
	initialDeliveryState,
	isRedelivery,
	markDelivered,
	markFailed,
	nextDelivery,
	pruneAttempts,
	resetStreak,
} from './delivery.js';
import type {DeliveryStore} from './delivery-store.js';
import type {MailNotification} from './notification.js';
import type {MailMessage} from './types.js';

/** How a turn with mail ended. `gone`: Codex did; `refused`: the session was about to end, or had more to do. */
export type MailTurnOutcome = 'completed' | 'failed' | 'interrupted' | 'gone' | 'refused';

/** What becomes of a turn that was asked for. */
export type MailTurnObserver = {onStarted(): void; onEnded(how: MailTurnOutcome): void};

/** What a carrier has others do. */
type DeliveryWorkerOptions = {
	readonly identity: string;
	readonly store: DeliveryStore;
	readonly counters: MailCounters;
	readonly log: Log;
	readonly rules: () => Promise<DeliveryRules>;
	/** Whether mail is to start turns. */
	readonly isAutoMailEnabled: () => boolean;
	/** Whether the session has nothing else to do at present. */
	readonly isIdle: () => boolean;
	/** Begins a turn with these messages, now. */
	readonly startTurn: (letters: readonly MailMessage[], follower: MailTurnObserver) => void;
	/** Ends the session, since the lead asks for that. */
	readonly closeSession: (request: MailMessage) => void;
	readonly notify: (news: MailNotification) => void;
	readonly now: () => number;
};

/** Messages that were told of. */
const MAX_ANNOUNCED = 10_000;
/** How long somebody who wants a figure waits for it. */
const POLL_TIMEOUT_MS = 500;

/** Brings the mail of one session: one delivery at a time, and each message until it has come through. */
export class DeliveryWorker {
	readonly #options: DeliveryWorkerOptions;
	#state: DeliveryState = initialDeliveryState;
	/** What the inbox looked like when it was last read, and when it is to be read again all the same. */
	#lastStamp: string | undefined;
	#nextReadAt = 0;
	#unread = 0;
	/** All that is done with files, one after the other. */
	#fileWork: Promise<void> = Promise.resolve();
	#isPollQueued = false;
	/** Whether a turn with mail runs. */
	#isTurnRunning = false;
	/** Until when turns in a row were last told to be too many. */
	#streakLimitUntil = 0;
	/** Whether something goes wrong, and that was told. */
	#hasWarned = false;
	readonly #announced = new BoundedMap<string, true>(MAX_ANNOUNCED);

	constructor(options: DeliveryWorkerOptions) {
		this.#options = options;
	}

	/** The client has said something to the session. */
	onClientTurn(): void {
		this.#state = resetStreak(this.#state);
		// Where nothing is unread, nothing waited for this.
		if (this.#unread > 0) this.#nextReadAt = 0;
	}

	/** Looks whether there is something to do. Where nothing has changed that costs one look at the folder. */
	poll(): Promise<void> {
		if (!this.#isPollQueued) this.#enqueue(() => this.#poll());
		this.#isPollQueued = true;
		return this.#fileWork;
	}

	/** Resolves when nothing is left to be written. */
	settled(): Promise<void> {
		return this.#fileWork;
	}

	/** How many messages are not read; as far as is known where an inbox is held by somebody else. */
	async pending(): Promise<number> {
		await Promise.race([this.poll(), pause(POLL_TIMEOUT_MS)]);
		return this.#unread;
	}

	async #poll(): Promise<void> {
		this.#isPollQueued = false;
		const {store, isIdle, isAutoMailEnabled, now} = this.#options;
		const attempts = await store.recover();
		if (attempts) this.#state = {...this.#state, attempts};
		const stamp = store.stamp();
		if (stamp === this.#lastStamp && (now() < this.#nextReadAt || !isIdle())) return;
		const unread = await store.unread();
		this.#hasWarned = false;
		this.#lastStamp = stamp;
		this.#nextReadAt = Number.POSITIVE_INFINITY;
		this.#unread = unread.length;
		this.#announce(unread);
		// What is under way is marked as read, and may come back.
		if (this.#isTurnRunning) return;
		this.#state = pruneAttempts(this.#state, unread);
		if (!isAutoMailEnabled() || unread.length === 0) return;
		if (isIdle()) await this.#deliver(unread);
		else this.#nextReadAt = 0;
	}

	async #deliver(unread: readonly MailMessage[]): Promise<void> {
		const {store, rules, isIdle, closeSession, counters, now} = this.#options;
		const {notices, next} = nextDelivery(unread, this.#state, await rules(), now());
		await store.markRead(next.type === 'close' ? [...notices, next.request] : notices);
		counters.notices += notices.length;
		if (next.type === 'close') closeSession(next.request);
		else if (next.type === 'wait') this.#postpone(next.until, next.reason);
		else if (next.type === 'turn' && isIdle()) this.#startTurn(next.letters);
		else if (next.type === 'turn') this.#nextReadAt = 0;
	}

	#postpone(until: number, reason: 'streak' | 'failures'): void {
		const {log, identity} = this.#options;
		const {streak} = this.#state;
		this.#nextReadAt = until;
		if (reason === 'failures' || until === this.#streakLimitUntil) return;
		this.#streakLimitUntil = until;
		const warning = `${identity} has had ${streak} turns of mail in a row; the next one waits for the client, or until there has been none for a while.`;
		log.warn('mail.streak', warning, {identity, turns: streak});
	}

	#startTurn(messages: readonly MailMessage[]): void {
		let isDelivered = false;
		const markDelivered = (): void => {
			if (!isDelivered) this.#enqueue(() => this.#onDelivered(messages));
			isDelivered = true;
		};
		this.#isTurnRunning = true;
		this.#options.startTurn(messages, {
			onStarted: markDelivered,
			onEnded: outcome => {
				if (outcome === 'completed') markDelivered();
				this.#enqueue(() => this.#onTurnEnded(messages, outcome, isDelivered));
			},
		});
	}

	async #onDelivered(messages: readonly MailMessage[]): Promise<void> {
		const {store, counters, log, identity} = this.#options;
		const ids = messages.map(({id}) => id);
		counters.turns++;
		counters.delivered += messages.length;
		counters.redelivered += messages.filter(message => isRedelivery(this.#state, message)).length;
		await store.markDelivered(ids, this.#state.attempts);
		log.info('mail.delivered', `${identity} has got ${messages.length} of its messages.`, {identity, ids});
	}

	async #onTurnEnded(
		messages: readonly MailMessage[],
		outcome: MailTurnOutcome,
		wasDelivered: boolean,
	): Promise<void> {
		const {store, rules, now} = this.#options;
		const ids = messages.map(({id}) => id);
		this.#isTurnRunning = false;
		this.#nextReadAt = 0;
		if (outcome === 'refused' && !wasDelivered) return;
		const hasFailed = outcome === 'failed' || !wasDelivered;
		this.#state = (hasFailed ? markFailed : markDelivered)(this.#state, ids, await rules(), now());
		for (const message of messages) if (hasExhaustedAttempts(this.#state, message)) this.#giveUp(message);
		const {attempts} = this.#state;
		await (hasFailed && wasDelivered ? store.requeue(ids, attempts) : store.commitTurn(attempts));
	}

	/** It stays in the inbox, unread, for whoever reads that by other means. */
	#giveUp(message: MailMessage): void {
		const {identity, log, counters, notify} = this.#options;
		const {id, from} = message;
		counters.parked++;
		const warning = `A message of ${JSON.stringify(from.slice(0, 100))} made every turn of ${identity} fail, and is not tried any more. It stays unread: atm_read shows it.`;
		log.warn('mail.parked', warning, {identity, message_id: id});
		notify({type: 'mail_parked', identity, messages: [message], unread: this.#unread});
	}

	#announce(unread: readonly MailMessage[]): void {
		const newMessages = unread.filter(
			({id, type}) => !this.#announced.has(id) && type !== 'idle_notification',
		);
		for (const {id} of newMessages) this.#announced.set(id, true);
		const {identity, notify} = this.#options;
		if (newMessages.length > 0)
			notify({type: 'mail', identity, messages: newMessages, unread: unread.length});
	}

	/** What goes wrong is told once, until the inbox has been read again, and tried again at the next look. */
	#enqueue(work: () => Promise<void>): void {
		const {log, identity} = this.#options;
		this.#fileWork = this.#fileWork.then(work).catch(error => {
			if (this.#hasWarned) return;
			this.#hasWarned = true;
			log.warn('mail.trouble', `Mail of ${identity} waits: ${(error as Error).message}`, {identity});
		});
	}
}
