import {MAX_WORD} from '../awaited-progress.js';
import {change} from '../change.js';
import type {Expose} from '../config/schema.js';
import {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {shortened} from '../printable.js';
import {objectOf} from '../protocol/json.js';
import {warnLimited} from '../warn-limited.js';
import {ListNews} from './list-news.js';
import type {Member} from './member.js';
import type {Members} from './members.js';
import type {MergedLists} from './merged-lists.js';
import {Questions} from './questions.js';
import type {ToolListing} from './tool-listing.js';

export type FromMembersOptions = {
	readonly log: Log;
	/** Says something to the client. */
	readonly say: (envelope: Envelope) => void;
	readonly members: Members;
	readonly tools: ToolListing;
	readonly lists: MergedLists;
	readonly expose: () => Expose;
};

/** What servers ask a client for, by the capability that it needs. */
const questions = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list']);

/** What becomes of what servers say of their own accord: the client hears it as if one server had said it all. */
export class FromMembers {
	readonly #options: FromMembersOptions;
	readonly #questions = new Questions();
	readonly news: ListNews;

	constructor(options: FromMembersOptions) {
		this.#options = options;
		this.news = new ListNews(options);
	}

	hear(member: Member, envelope: Envelope): void {
		const {id, method = ''} = envelope.head;
		if (id === undefined) this.#notified(member, envelope, method);
		else this.#asked(member, envelope, id, method);
	}

	/** The client answers what it was asked. */
	answered(envelope: Envelope): void {
		if (this.#questions.answer(envelope)) return;
		const id = shortened(envelope.head.key ?? 'null');
		const sentence = 'The client answered what no server waits for; that was dropped.';
		warnLimited(this.#options.log, 'rpc.orphan_response', sentence, {id});
	}

	/** The client tells how it gets on with what it was asked. */
	progress(envelope: Envelope): void {
		if (!this.#questions.progress(envelope))
			this.#options.log.debug('rpc.dropped', 'The client told of progress that no server waits for.');
	}

	/** A server is not there any more, so that nobody need answer it. */
	left(member: Member): void {
		for (const notice of this.#questions.leave(member)) this.#options.say(notice);
	}

	close(): void {
		this.news.close();
	}

	#asked(member: Member, envelope: Envelope, id: string, method: string): void {
		const {origin} = envelope;
		if (method === 'ping') member.link?.tell(Envelope.answer(id, 'result', {}, origin));
		else if (questions.has(method)) this.#ask(member, envelope, id);
		else {
			const error = {code: -32601, message: `Method not found: ${method}`};
			member.link?.tell(Envelope.answer(id, 'error', error, origin));
		}
	}

	#ask(member: Member, envelope: Envelope, id: string): void {
		const told = this.#questions.ask(member, envelope, member.link?.within(envelope));
		if (told) {
			this.#options.say(told);
			return;
		}
		const message = `Invalid Request: the progressToken has more than ${MAX_WORD} characters`;
		member.link?.tell(Envelope.answer(id, 'error', {code: -32600, message}, envelope.origin));
	}

	#notified(member: Member, envelope: Envelope, method: string): void {
		switch (method) {
			case 'notifications/tools/list_changed':
				member.refresh();
				return;
			case 'notifications/cancelled': {
				const told = this.#questions.withdraw(member, envelope);
				if (told) this.#options.say(told);
				return;
			}
			case 'notifications/message':
				this.#pass(member, withLogger(envelope, member.name));
				return;
			case 'notifications/progress':
			case 'notifications/elicitation/complete':
				this.#pass(member, envelope);
				return;
			case 'notifications/prompts/list_changed':
			case 'notifications/resources/list_changed':
				this.#options.lists.changed();
				if (this.#options.expose() !== 'run') this.#pass(member, envelope);
				return;
			case 'notifications/resources/updated':
				if (this.#options.expose() !== 'run') this.#pass(member, envelope);
				return;
			default:
				this.#options.log.debug('rpc.dropped', `${method} of ${member.name} means nothing to the hub.`);
		}
	}

	/** Passes something on, as said in the course of the client's request that it is likely about. */
	#pass(member: Member, envelope: Envelope): void {
		const {name, valve} = envelope.origin;
		const within = member.link?.within(envelope);
		this.#options.say(envelope.relayed({name, valve, ...(within === undefined ? {} : {within})}));
	}
}

/** A log message that says whose it is. */
const withLogger = (envelope: Envelope, server: string): Envelope =>
	change(envelope, body => {
		const params = objectOf(body.params);
		const logger = typeof params.logger === 'string' ? `${server}/${params.logger}` : server;
		return {...body, params: {...params, logger}};
	});
