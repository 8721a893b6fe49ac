import type {Log} from '../../core/log.js';
import {BoundedMap} from '../../util/bounded-map.js';
import type {DeliveryAttempts} from './delivery.js';
import {type DeliveryStateFile, requeueInProgress} from './delivery-state-file.js';
import type {MailInbox} from './inbox.js';
import type {MailMessage} from './types.js';

type DeliveryStoreOptions = {
	readonly identity: string;
	readonly inbox: MailInbox;
	readonly stateFile: DeliveryStateFile;
	readonly log: Log;
};

type AttemptsById = ReadonlyMap<string, DeliveryAttempts>;

/** Limit on delivered messages that could not be marked as read. */
const MAX_UNMARKED = 10_000;

/** The persistent mail state of an identity: read marks, deliveries in progress and failed attempts. */
export class DeliveryStore {
	readonly #options: DeliveryStoreOptions;
	readonly #unmarked = new BoundedMap<string, true>(MAX_UNMARKED);
	/** Whether the deliveries in progress on disk match those of this process. */
	#isRecovered = false;

	constructor(options: DeliveryStoreOptions) {
		this.#options = options;
	}

	/**
	 * Requeues interrupted deliveries and returns the saved attempts. Returns undefined if that is already
	 * done.
	 */
	async recover(): Promise<AttemptsById | undefined> {
		if (this.#isRecovered) return;
		const {stateFile, inbox} = this.#options;
		const attempts = await requeueInProgress(stateFile, inbox);
		this.#isRecovered = true;
		return attempts;
	}

	stamp(): string | undefined {
		return this.#options.inbox.stamp();
	}

	/** The messages that were not delivered yet. */
	async unread(): Promise<MailMessage[]> {
		const all = await this.#options.inbox.unread();
		const unmarkedIds = all.filter(({id}) => this.#unmarked.has(id)).map(({id}) => id);
		if (unmarkedIds.length === 0) return all;
		const isUnmarked = new Set(unmarkedIds);
		await this.#mark(unmarkedIds);
		return all.filter(({id}) => !isUnmarked.has(id));
	}

	/** Marks messages as read. They stay in progress until the turn ends. */
	async markDelivered(ids: readonly string[], attempts: AttemptsById): Promise<void> {
		await this.#save(ids, attempts);
		await this.#mark(ids);
	}

	/** Records the end of a turn. Its messages stay read. */
	commitTurn(attempts: AttemptsById): Promise<void> {
		return this.#save([], attempts);
	}

	/** Marks the messages of a failed turn as unread. */
	async requeue(ids: readonly string[], attempts: AttemptsById): Promise<void> {
		for (const id of ids) this.#unmarked.delete(id);
		await this.#save(ids, attempts);
		// If this fails, the next poll begins with `recover`, which tries it again.
		this.#isRecovered = false;
		await this.#options.inbox.markUnread(ids);
		this.#isRecovered = true;
		await this.#save([], attempts);
	}

	markRead(messages: readonly MailMessage[]): Promise<void> {
		return this.#options.inbox.markRead(messages.map(({id}) => id));
	}

	/**
	 * Marks messages as read. If that fails, keeps their ids in memory so that they are not delivered twice.
	 */
	async #mark(ids: readonly string[]): Promise<void> {
		for (const id of ids) this.#unmarked.set(id, true);
		await this.#warnOnError('mail.not_marked', 'cannot be marked as read', async () => {
			await this.#options.inbox.markRead(ids);
			for (const id of ids) this.#unmarked.delete(id);
		});
	}

	#save(inProgress: readonly string[], attempts: AttemptsById): Promise<void> {
		const {stateFile} = this.#options;
		return this.#warnOnError('mail.not_saved', 'may be delivered twice', () =>
			stateFile.write({inProgress, attempts}),
		);
	}

	async #warnOnError(event: string, consequence: string, action: () => Promise<void>): Promise<void> {
		const {log, identity} = this.#options;
		await action().catch((error: Error) => {
			log.warn(event, `Mail of ${identity} ${consequence}: ${error.message}`, {identity});
		});
	}
}
