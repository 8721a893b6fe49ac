import {BoundedMap} from '../bounded-map.js';
import type {Log} from '../log.js';
import type {Trial} from './delivery.js';
import type {Inbox} from './inbox.js';
import {comeAgain, type MailRecordFile} from './mail-record.js';
import type {Message} from './types.js';

export type LedgerOptions = {
	readonly identity: string;
	readonly inbox: Inbox;
	readonly record: MailRecordFile;
	readonly log: Log;
};

type Trials = ReadonlyMap<string, Trial>;

/** Messages that are in the agent's hands although their inbox cannot be written. */
const MAX_REMEMBERED = 10_000;

/** What is on disk of an identity's mail: which messages are read, which are under way, and which did not get through. */
export class Ledger {
	readonly #options: LedgerOptions;
	readonly #given = new BoundedMap<string, true>(MAX_REMEMBERED);
	/** Whether what is under way on disk is what this process knows of. */
	#isOpen = false;

	constructor(options: LedgerOptions) {
		this.#options = options;
	}

	/** What was tried by another process before, if that has not been told yet. */
	async open(): Promise<Trials | undefined> {
		if (this.#isOpen) return;
		const {record, inbox} = this.#options;
		const trials = await comeAgain(record, inbox);
		this.#isOpen = true;
		return trials;
	}

	/** Changes when the inbox does. */
	stamp(): string | undefined {
		return this.#options.inbox.stamp();
	}

	/** What the agent does not have yet. */
	async unread(): Promise<Message[]> {
		const all = await this.#options.inbox.unread();
		const late = all.filter(({id}) => this.#given.has(id)).map(({id}) => id);
		if (late.length === 0) return all;
		const isLate = new Set(late);
		await this.#mark(late);
		return all.filter(({id}) => !isLate.has(id));
	}

	/** Codex has these: they are read, but not for good before the turn is over. */
	async arrived(ids: readonly string[], trials: Trials): Promise<void> {
		await this.#write(ids, trials);
		await this.#mark(ids);
	}

	/** The turn is over, and what was in it is read for good. */
	settled(trials: Trials): Promise<void> {
		return this.#write([], trials);
	}

	/** The turn came to nothing: what was in it is unread again. */
	async takeBack(ids: readonly string[], trials: Trials): Promise<void> {
		for (const id of ids) this.#given.delete(id);
		await this.#write(ids, trials);
		// Where this cannot be done, it is what the next look begins with.
		this.#isOpen = false;
		await this.#options.inbox.unmark(ids);
		this.#isOpen = true;
		await this.#write([], trials);
	}

	/** Messages that are of no use to a model are read without it. */
	skip(messages: readonly Message[]): Promise<void> {
		return this.#options.inbox.mark(messages.map(({id}) => id));
	}

	/** What cannot be marked is remembered instead, so that it does not come again. */
	async #mark(ids: readonly string[]): Promise<void> {
		for (const id of ids) this.#given.set(id, true);
		await this.#try('mail.not_marked', 'cannot be marked as read', async () => {
			await this.#options.inbox.mark(ids);
			for (const id of ids) this.#given.delete(id);
		});
	}

	#write(underway: readonly string[], trials: Trials): Promise<void> {
		const {record} = this.#options;
		return this.#try('mail.not_saved', 'may come twice', () => record.write({underway, trials}));
	}

	async #try(event: string, what: string, work: () => Promise<void>): Promise<void> {
		const {log, identity} = this.#options;
		await work().catch((error: Error) => {
			log.warn(event, `Mail of ${identity} ${what}: ${error.message}`, {identity});
		});
	}
}
