import {BoundedMap} from '../bounded-map.js';
import type {Log} from '../log.js';
import {pause} from '../pause.js';
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
import type {Ledger} from './ledger.js';
import type {MailNews} from './news.js';
import type {Message} from './types.js';

/** How a turn with mail ended. `gone`: Codex did; `refused`: the session was about to end, or had more to do. */
export type TurnEnd = 'completed' | 'failed' | 'interrupted' | 'gone' | 'refused';

/** What becomes of a turn that was asked for. */
export type TurnFollower = {started(): void; over(how: TurnEnd): void};

/** What a carrier has others do. */
export type CarrierOptions = {
	readonly identity: string;
	readonly ledger: Ledger;
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
	readonly close: (request: Message) => void;
	readonly tell: (news: MailNews) => void;
	readonly now: () => number;
};

/** Messages that were told of. */
const MAX_TOLD = 10_000;
/** How long somebody who wants a figure waits for it. */
const PATIENCE_MS = 500;

/** Brings the mail of one session: one delivery at a time, and each message until it has come through. */
export class Carrier {
	readonly #options: CarrierOptions;
	#state: DeliveryState = noDeliveries;
	/** What the inbox looked like when it was last read, and when it is to be read again all the same. */
	#stamp: string | undefined;
	#due = 0;
	#unread = 0;
	/** All that is done with files, one after the other. */
	#work: Promise<void> = Promise.resolve();
	#isLooking = false;
	/** Whether a turn with mail runs. */
	#isOut = false;
	/** Until when turns in a row were last told to be too many. */
	#cappedUntil = 0;
	/** Whether something goes wrong, and that was told. */
	#isTroubled = false;
	readonly #told = new BoundedMap<string, true>(MAX_TOLD);

	constructor(options: CarrierOptions) {
		this.#options = options;
	}

	/** The client has said something to the session. */
	clientSpoke(): void {
		this.#state = clientSpoke(this.#state);
		// Where nothing is unread, nothing waited for this.
		if (this.#unread > 0) this.#due = 0;
	}

	/** Looks whether there is something to do. Where nothing has changed that costs one look at the folder. */
	look(): Promise<void> {
		if (!this.#isLooking) this.#then(() => this.#look());
		this.#isLooking = true;
		return this.#work;
	}

	/** Resolves when nothing is left to be written. */
	settled(): Promise<void> {
		return this.#work;
	}

	/** How many messages are not read; as far as is known where an inbox is held by somebody else. */
	async pending(): Promise<number> {
		await Promise.race([this.look(), pause(PATIENCE_MS)]);
		return this.#unread;
	}

	async #look(): Promise<void> {
		this.#isLooking = false;
		const {ledger, isFree, isAutomatic, now} = this.#options;
		const trials = await ledger.open();
		if (trials) this.#state = {...this.#state, trials};
		const stamp = ledger.stamp();
		if (stamp === this.#stamp && (now() < this.#due || !isFree())) return;
		const unread = await ledger.unread();
		this.#isTroubled = false;
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
		const {ledger, rules, isFree, close, figures, now} = this.#options;
		const {notices, next} = nextDelivery(unread, this.#state, await rules(), now());
		await ledger.skip(next.type === 'close' ? [...notices, next.request] : notices);
		figures.notices += notices.length;
		if (next.type === 'close') close(next.request);
		else if (next.type === 'wait') this.#wait(next.until, next.reason);
		else if (next.type === 'turn' && isFree()) this.#begin(next.letters);
		else if (next.type === 'turn') this.#due = 0;
	}

	#wait(until: number, reason: 'streak' | 'failures'): void {
		const {log, identity} = this.#options;
		const {streak} = this.#state;
		this.#due = until;
		if (reason === 'failures' || until === this.#cappedUntil) return;
		this.#cappedUntil = until;
		const sentence = `${identity} has had ${streak} turns of mail in a row; the next one waits for the client, or until there has been none for a while.`;
		log.warn('mail.streak', sentence, {identity, turns: streak});
	}

	#begin(letters: readonly Message[]): void {
		let isThere = false;
		const arrived = (): void => {
			if (!isThere) this.#then(() => this.#arrived(letters));
			isThere = true;
		};
		this.#isOut = true;
		this.#options.begin(letters, {
			started: arrived,
			over: how => {
				if (how === 'completed') arrived();
				this.#then(() => this.#over(letters, how, isThere));
			},
		});
	}

	async #arrived(letters: readonly Message[]): Promise<void> {
		const {ledger, figures, log, identity} = this.#options;
		const ids = letters.map(({id}) => id);
		figures.turns++;
		figures.delivered += letters.length;
		figures.redelivered += letters.filter(letter => isAgain(this.#state, letter)).length;
		await ledger.arrived(ids, this.#state.trials);
		log.info('mail.delivered', `${identity} has got ${letters.length} of its messages.`, {identity, ids});
	}

	async #over(letters: readonly Message[], how: TurnEnd, isThere: boolean): Promise<void> {
		const {ledger, rules, now} = this.#options;
		const ids = letters.map(({id}) => id);
		this.#isOut = false;
		this.#due = 0;
		if (how === 'refused' && !isThere) return;
		const isLost = how === 'failed' || !isThere;
		this.#state = (isLost ? failed : delivered)(this.#state, ids, await rules(), now());
		for (const letter of letters) if (isParked(this.#state, letter)) this.#park(letter);
		const {trials} = this.#state;
		await (isLost && isThere ? ledger.takeBack(ids, trials) : ledger.settled(trials));
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

	/** What goes wrong is told once, until the inbox has been read again, and tried again at the next look. */
	#then(work: () => Promise<void>): void {
		const {log, identity} = this.#options;
		this.#work = this.#work.then(work).catch(error => {
			if (this.#isTroubled) return;
			this.#isTroubled = true;
			log.warn('mail.trouble', `Mail of ${identity} waits: ${(error as Error).message}`, {identity});
		});
	}
}
