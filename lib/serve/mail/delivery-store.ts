import type {Log} from '../../core/log.js';
import {BoundedMap} from '../../util/bounded-map.js';
import type {DeliveryAttempts} from './delivery.js';
import {type DeliveryStateFile, requeueInProgress} from './delivery-state-file.js';
import type {MailInbox} from './inbox.js';
import type {MailMessage} from './types.js';

type DeliveryStoreOptions = {
	readonly identity: string;
	readonly inbox: MailInbox;
	readonly record: DeliveryStateFile;
	readonly log: Log;
};

type AttemptsById = ReadonlyMap<string, DeliveryAttempts>;

/** Messages that are in the agent's hands although their inbox cannot be written. */
const MAX_UNMARKED = 10_000;

/** What is on disk of an identity's mail: which messages are read, which are under way, and which did not get through. */
export class DeliveryStore {
	readonly #options: DeliveryStoreOptions;
	readonly #unmarked = new BoundedMap<string, true>(MAX_UNMARKED);
	/** Whether what is under way on disk is what this process knows of. */
	#isRecovered = false;

	constructor(options: DeliveryStoreOptions) {
		this.#options = options;
	}

	/** What was tried by another process before, if that has not been told yet. */
	async recover(): Promise<AttemptsById | undefined> {
		if (this.#isRecovered) return;
		const {record, inbox} = this.#options;
		const attempts = await requeueInProgress(record, inbox);
		this.#isRecovered = true;
		return attempts;
	}

	/** Changes when the inbox does. */
	stamp(): string | undefined {
		return this.#options.inbox.stamp();
	}

	/** What the agent does not have yet. */
	async unread(): Promise<MailMessage[]> {
		const all = await this.#options.inbox.unread();
		const unmarkedIds = all.filter(({id}) => this.#unmarked.has(id)).map(({id}) => id);
		if (unmarkedIds.length === 0) return all;
		const isUnmarked = new Set(unmarkedIds);
		await this.#mark(unmarkedIds);
		return all.filter(({id}) => !isUnmarked.has(id));
	}

	/** Codex has these: they are read, but not for good before the turn is over. */
	async markDelivered(ids: readonly string[], attempts: AttemptsById): Promise<void> {
		await this.#save(ids, attempts);
		await this.#mark(ids);
	}

	/** The turn is over, and what was in it is read for good. */
	commitTurn(attempts: AttemptsById): Promise<void> {
		return this.#save([], attempts);
	}

	/** The turn came to nothing: what was in it is unread again. */
	async requeue(ids: readonly string[], attempts: AttemptsById): Promise<void> {
		for (const id of ids) this.#unmarked.delete(id);
		await this.#save(ids, attempts);
		// Where this cannot be done, it is what the next look begins with.
		this.#isRecovered = false;
		await this.#options.inbox.markUnread(ids);
		this.#isRecovered = true;
		await this.#save([], attempts);
	}

	/** Messages that are of no use to a model are read without it. */
	markRead(messages: readonly MailMessage[]): Promise<void> {
		return this.#options.inbox.markRead(messages.map(({id}) => id));
	}

	/** What cannot be marked is remembered instead, so that it does not come again. */
	async #mark(ids: readonly string[]): Promise<void> {
		for (const id of ids) this.#unmarked.set(id, true);
		await this.#warnOnError('mail.not_marked', 'cannot be marked as read', async () => {
			await this.#options.inbox.markRead(ids);
			for (const id of ids) this.#unmarked.delete(id);
		});
	}

	#save(inProgress: readonly string[], attempts: AttemptsById): Promise<void> {
		const {record} = this.#options;
		return this.#warnOnError('mail.not_saved', 'may come twice', () => record.write({inProgress, attempts}));
	}

	async #warnOnError(event: string, consequence: string, action: () => Promise<void>): Promise<void> {
		const {log, identity} = this.#options;
		await action().catch((error: Error) => {
			log.warn(event, `Mail of ${identity} ${consequence}: ${error.message}`, {identity});
		});
	}
}
