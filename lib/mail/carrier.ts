import {BoundedMap} from '../bounded-map.js';
import type {Log} from '../log.js';
import {
	clientSpoke,
	type DeliveryRules,
	type DeliveryState,
	delivered,
	failed,
	isAgain,
	isParked,
	nextDelivery,
	noDeliveries,
	onlyOf,
} from './delivery.js';
import type {Figures} from './figures.js';
import type {Inbox} from './inbox.js';
import {comeAgain, type MailRecordFile} from './mail-record.js';
import type {MailNews} from './news.js';
import type {Message} from './types.js';

/** How a turn with mail ended. `gone`: Codex did; `refused`: the session was about to end, or had more to do. */
export type TurnEnd = 'completed' | 'failed' | 'interrupted' | 'gone' | 'refused';

/** What becomes of a turn that was asked for. */
export type TurnFollower = {started(): void; over(how: TurnEnd): void};

/** What a carrier has others do. */
export type CarrierOptions = {
	readonly identity: string;
	readonly inbox: Inbox;
	readonly record: MailRecordFile;
	readonly figures: Figures;
	readonly log: Log;
	readonly rules: () => Promise<DeliveryRules>;
	/** Whether mail is to start turns. */
	readonly isAutomatic: () => boolean;
	/** Whether the session has nothing else to do at present. */
	readonly isFree: () => boolean;
	/** Begins a turn with these messages, now. */
	readonly begin: (letters: readonly Message[], follower: TurnFollower) => void;
	/** Ends the session, since the lead asks for that. */
	readonly close: (request: Message) => Promise<void>;
	readonly tell: (news: MailNews) => void;
	readonly now: () => number;
};

/** Messages that were told of, or are in the agent's hands although their inbox cannot be written. */
const MAX_REMEMBERED = 10_000;

/** Brings the mail of one session: one delivery at a time, and each message until it has come through. */
export class Carrier {
	readonly #options: CarrierOptions;
	#state: DeliveryState = noDeliveries;
	/** What the inbox looked like when it was last read, and when it is to be read again all the same. */
	#stamp: string | undefined;
	#due = 0;
	#unread = 0;
	#isOpen = false;
	/** All that is done with files, one after the other. */
	#work: Promise<void> = Promise.resolve();
	#isLooking = false;
	/** Whether a turn with mail runs. */
	#isOut = false;
	/** What went wrong last. */
	#trouble = '';
	readonly #told = new BoundedMap<string, true>(MAX_REMEMBERED);
	readonly #given = new BoundedMap<string, true>(MAX_REMEMBERED);

	constructor(options: CarrierOptions) {
		this.#options = options;
	}

	/** The client has said something to the session. */
	clientSpoke(): void {
		this.#state = clientSpoke(this.#state);
		this.#due = 0;
	}

	/** Looks whether there is something to do. Where nothing has changed that costs one look at the folder. */
	look(): Promise<void> {
		if (this.#isLooking) return this.#work;
		this.#isLooking = true;
		return this.#then(async () => {
			this.#isLooking = false;
			if (!this.#isOpen) await this.#open();
			const {inbox, isFree, now} = this.#options;
			const stamp = await inbox.stamp();
			if (stamp === this.#stamp && (now() < this.#due || !isFree())) return;
			await this.#read(stamp);
		});
	}

	/** Resolves when nothing is left to be written. */
	settled(): Promise<void> {
		return this.#work;
	}

	/** How many messages are not read. */
	async pending(): Promise<number> {
		await this.look();
		return this.#unread;
	}

	/** Nobody knows whether what was under way at the end of another process came through: it comes once more. */
	async #open(): Promise<void> {
		const {record, inbox} = this.#options;
		const trials = await comeAgain(record, inbox);
		this.#state = {...this.#state, trials};
		this.#isOpen = true;
	}

	async #read(stamp: string | undefined): Promise<void> {
		const {inbox, isAutomatic, isFree} = this.#options;
		const all = await inbox.unread();
		const late = all.filter(({id}) => this.#given.has(id));
		if (late.length > 0) await this.#mark(late);
		const unread = all.filter(({id}) => !this.#given.has(id));
		this.#stamp = stamp;
		this.#due = Number.POSITIVE_INFINITY;
		this.#unread = unread.length;
		this.#tellOf(unread);
		// What is under way is marked as read, and may come back.
		if (this.#isOut) return;
		this.#state = onlyOf(this.#state, unread);
		if (!isAutomatic() || unread.length === 0) return;
		if (isFree()) await this.#deliver(unread);
		else this.#due = 0;
	}

	async #deliver(unread: readonly Message[]): Promise<void> {
		const {inbox, rules, isFree, close, figures, now} = this.#options;
		const {notices, next} = nextDelivery(unread, this.#state, await rules(), now());
		await inbox.mark(notices.map(({id}) => id));
		figures.notices += notices.length;
		if (next.type === 'wait') this.#wait(next.until, next.reason);
		else if (next.type === 'nothing') return;
		else if (!isFree()) this.#due = 0;
		else if (next.type === 'turn') this.#begin(next.letters);
		else {
			await inbox.mark([next.request.id]);
			await close(next.request);
		}
	}

	#wait(until: number, reason: 'streak' | 'failures'): void {
		const {log, identity} = this.#options;
		this.#due = until;
		if (reason === 'failures') return;
		const sentence = `${identity} has had ${this.#state.streak} turns of mail in a row; the next one waits for the client, or until there has been none for a while.`;
		log.warn('mail.streak', sentence, {identity, turns: this.#state.streak});
	}

	#begin(letters: readonly Message[]): void {
		let hasStarted = false;
		this.#isOut = true;
		this.#options.begin(letters, {
			started: () => {
				if (hasStarted) return;
				hasStarted = true;
				this.#then(() => this.#arrived(letters));
			},
			over: how => {
				const isThere = hasStarted || how === 'completed';
				if (isThere && !hasStarted) this.#then(() => this.#arrived(letters));
				this.#then(() => this.#over(letters, how, isThere));
			},
		});
	}

	/** Codex has these: they are read, but not for good before the turn is over. */
	async #arrived(letters: readonly Message[]): Promise<void> {
		const {figures, log, identity} = this.#options;
		const ids = letters.map(({id}) => id);
		figures.turns++;
		figures.delivered += letters.length;
		figures.redelivered += letters.filter(letter => isAgain(this.#state, letter)).length;
		await this.#write(ids);
		await this.#mark(letters);
		log.info('mail.delivered', `${identity} has got ${letters.length} of its messages.`, {identity, ids});
	}

	/** What cannot be marked is remembered instead, so that it does not come again. */
	async #mark(letters: readonly Message[]): Promise<void> {
		const ids = letters.map(({id}) => id);
		for (const id of ids) this.#given.set(id, true);
		await this.#try('mail.not_marked', 'cannot be marked as read', async () => {
			await this.#options.inbox.mark(ids);
			for (const id of ids) this.#given.delete(id);
		});
	}

	async #over(letters: readonly Message[], how: TurnEnd, isThere: boolean): Promise<void> {
		const {rules, now, inbox} = this.#options;
		const ids = letters.map(({id}) => id);
		this.#isOut = false;
		this.#due = 0;
		if (how === 'refused' && !isThere) return;
		const isLost = how === 'failed' || !isThere;
		const settle = isLost ? failed : delivered;
		this.#state = settle(this.#state, ids, await rules(), now());
		if (isLost && isThere) {
			for (const id of ids) this.#given.delete(id);
			await this.#write(ids);
			// Where this cannot be done, it is what a look begins with.
			this.#isOpen = false;
			await inbox.unmark(ids);
			this.#isOpen = true;
		}
		await this.#write([]);
		for (const letter of letters) if (isParked(this.#state, letter)) this.#park(letter);
	}

	#write(underway: readonly string[]): Promise<void> {
		const {trials} = this.#state;
		const {record} = this.#options;
		return this.#try('mail.not_saved', 'may come twice', () => record.write({underway, trials}));
	}

	async #try(event: string, what: string, work: () => Promise<void>): Promise<void> {
		const {log, identity} = this.#options;
		await work().catch((error: Error) => {
			log.warn(event, `Mail of ${identity} ${what}: ${error.message}`, {identity});
		});
	}

	/** It stays in the inbox, unread, for whoever reads that by other means. */
	#park(letter: Message): void {
		const {identity, log, figures, tell} = this.#options;
		const {id, from} = letter;
		figures.parked++;
		const sentence = `A message of ${JSON.stringify(from.slice(0, 100))} made every turn of ${identity} fail, and is not tried any more. It stays unread: atm_read shows it.`;
		log.warn('mail.parked', sentence, {identity, message_id: id});
		tell({type: 'mail_parked', identity, messages: [letter], unread: this.#unread});
	}

	#tellOf(unread: readonly Message[]): void {
		const news = unread.filter(({id, type}) => !this.#told.has(id) && type !== 'idle_notification');
		for (const {id} of news) this.#told.set(id, true);
		const {identity, tell} = this.#options;
		if (news.length > 0) tell({type: 'mail', identity, messages: news, unread: unread.length});
	}

	/** What goes wrong is told once, and tried again at the next look. */
	#then(work: () => Promise<void>): Promise<void> {
		const {log, identity} = this.#options;
		this.#work = this.#work.then(work).then(
			() => {
				this.#trouble = '';
			},
			error => {
				const {message} = error as Error;
				if (message === this.#trouble) return;
				this.#trouble = message;
				log.warn('mail.trouble', `Mail of ${identity} waits: ${message}`, {identity});
			},
		);
		return this.#work;
	}
}
