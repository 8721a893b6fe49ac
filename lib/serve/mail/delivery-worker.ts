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

/** How a mail turn ended. `gone`: Codex exited. `refused`: the session was closing or not idle. */
export type MailTurnOutcome = 'completed' | 'failed' | 'interrupted' | 'gone' | 'refused';

export type MailTurnObserver = {onStarted(): void; onEnded(outcome: MailTurnOutcome): void};

type DeliveryWorkerOptions = {
	readonly identity: string;
	readonly store: DeliveryStore;
	readonly counters: MailCounters;
	readonly log: Log;
	readonly rules: () => Promise<DeliveryRules>;
	readonly isAutoMailEnabled: () => boolean;
	/** Whether the session has no running or queued turns. */
	readonly isIdle: () => boolean;
	readonly startTurn: (messages: readonly MailMessage[], observer: MailTurnObserver) => void;
	readonly closeSession: (request: MailMessage) => void;
	readonly notify: (notification: MailNotification) => void;
	readonly now: () => number;
};

const MAX_ANNOUNCED = 10_000;
/** Time limit for a poll in `pending`. */
const POLL_TIMEOUT_MS = 500;

/**
 * Delivers the mail of one session. Runs one delivery at a time and retries each message until it is
 * delivered or parked.
 */
export class DeliveryWorker {
	readonly #options: DeliveryWorkerOptions;
	#state: DeliveryState = initialDeliveryState;
	/** The stamp of the inbox at the last read, and the time of the next read if the stamp stays the same. */
	#lastStamp: string | undefined;
	#nextReadAt = 0;
	#unread = 0;
	/** The chain of file operations, which run one at a time. */
	#fileWork: Promise<void> = Promise.resolve();
	#isPollQueued = false;
	#isTurnRunning = false;
	/** The end of the last reported streak limit, to report each limit once. */
	#streakLimitUntil = 0;
	/** Whether the current error was reported. */
	#hasWarned = false;
	readonly #announced = new BoundedMap<string, true>(MAX_ANNOUNCED);

	constructor(options: DeliveryWorkerOptions) {
		this.#options = options;
	}

	/** Resets the streak after a turn of the client. */
	onClientTurn(): void {
		this.#state = resetStreak(this.#state);
		// Without unread mail, no delivery was waiting for this.
		if (this.#unread > 0) this.#nextReadAt = 0;
	}

	/** Checks for mail to deliver. Costs one `stat` call if the inbox has not changed. */
	poll(): Promise<void> {
		if (!this.#isPollQueued) this.#enqueue(() => this.#poll());
		this.#isPollQueued = true;
		return this.#fileWork;
	}

	/** Resolves when all file operations are done. */
	settled(): Promise<void> {
		return this.#fileWork;
	}

	/** The number of unread messages. Returns the last known number if another program locks the inbox. */
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
		// The messages of the running turn are marked as read, but may become unread again.
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
		else if (next.type === 'turn' && isIdle()) this.#startTurn(next.messages);
		else if (next.type === 'turn') this.#nextReadAt = 0;
	}

	#postpone(until: number, reason: 'streak' | 'failures'): void {
		const {log, identity} = this.#options;
		const {streak} = this.#state;
		this.#nextReadAt = until;
		if (reason === 'failures' || until === this.#streakLimitUntil) return;
		this.#streakLimitUntil = until;
		const warning = `${identity} had ${streak} mail turns in a row. The next one waits for a turn of the client or for a quiet period.`;
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
		log.info(
			'mail.delivered',
			`Delivered ${messages.length} ${messages.length === 1 ? 'message' : 'messages'} to ${identity}.`,
			{identity, ids},
		);
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
		for (const message of messages) if (hasExhaustedAttempts(this.#state, message)) this.#park(message);
		const {attempts} = this.#state;
		await (hasFailed && wasDelivered ? store.requeue(ids, attempts) : store.commitTurn(attempts));
	}

	/** Parks a message. It stays unread in the inbox, where other tools can read it. */
	#park(message: MailMessage): void {
		const {identity, log, counters, notify} = this.#options;
		const {id, from} = message;
		counters.parked++;
		const warning = `Every turn of ${identity} with a message from ${JSON.stringify(from.slice(0, 100))} failed, so the message is no longer retried. It stays unread. Use atm_read to read it.`;
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

	/**
	 * Queues a file operation. An error is reported once until the inbox is read successfully, and the next
	 * poll retries.
	 */
	#enqueue(work: () => Promise<void>): void {
		const {log, identity} = this.#options;
		this.#fileWork = this.#fileWork.then(work).catch(error => {
			if (this.#hasWarned) return;
			this.#hasWarned = true;
			log.warn('mail.trouble', `Delivery of mail to ${identity} is delayed: ${(error as Error).message}`, {
				identity,
			});
		});
	}
}
