import {Envelope, type Origin} from '../envelope.js';
import type {Recorded} from '../store/recorded.js';
import {type Difference, differences, type Rules} from './compare.js';
import {type Outcome, titleOf} from './outcome.js';
import type {Recording} from './recording.js';
import type {Renamed} from './renamed.js';
import {type Given, withSecrets} from './secrets.js';

export type QuestionsOptions = {
	readonly recording: Recording;
	readonly messages: readonly Recorded[];
	readonly answers: ReadonlyMap<Recorded, Recorded>;
	readonly rules: Rules;
	readonly given: readonly Given[];
	readonly renamed: Renamed;
	/** Who answers. */
	readonly origin: Origin;
};

/** What was done about a question of a server. */
export type Asked = {readonly answer: Envelope | undefined; readonly outcome: Outcome};

/** Of so many recorded questions the most similar one is looked for. */
const MAX_COMPARED = 100;

/** What a recorded server asked its client, and what it was answered: for a live server that asks the same. */
export class Questions {
	readonly #options: QuestionsOptions;
	/** What has not been asked yet, by method, in the order of the recording. */
	readonly #open = new Map<string | undefined, Set<Recorded>>();
	readonly #asked = new Set<Recorded>();
	/** What was answered last, for those who ask once more. */
	readonly #last = new Map<string | undefined, Recorded>();

	constructor(options: QuestionsOptions) {
		this.#options = options;
		for (const message of options.messages) {
			if (message.kind !== 'request' || message.from !== 'server') continue;
			const open = this.#open.get(message.method) ?? new Set();
			this.#open.set(message.method, open.add(message));
		}
	}

	isAsked(question: Recorded): boolean {
		return this.#asked.has(question);
	}

	/** What was asked when it was recorded, and has not been asked since. */
	unasked(): Recorded[] {
		return [...this.#open.values()].flatMap(open => [...open]);
	}

	/** A live server asks. It is answered what the recorded client answered. */
	ask(live: Envelope): Asked {
		const {method} = live.head;
		const found = this.#find(live);
		const title = `${method} (asked by the server)`;
		if (!found) {
			// Whether a server asks that is a matter of time.
			const status = method === 'ping' ? 'same' : 'failed';
			const failure = 'The server asked this more often than when it was recorded.';
			return {answer: this.#once(live), outcome: {title, status, differences: [], failure, ms: 0}};
		}
		const [question, differences] = found;
		this.#open.get(method)?.delete(question);
		this.#asked.add(question);
		const recorded = this.#options.answers.get(question);
		if (recorded) this.#last.set(method, recorded);
		const status = differences.length === 0 ? 'same' : 'different';
		const name = `${titleOf(question, this.#options.recording)} (asked by the server)`;
		return {answer: this.#answer(recorded, live), outcome: {title: name, status, differences, ms: 0}};
	}

	/** The recorded question that is most like this one. */
	#find(live: Envelope): readonly [Recorded, readonly Difference[]] | undefined {
		const {recording, rules} = this.#options;
		let best: readonly [Recorded, readonly Difference[]] | undefined;
		let count = 0;
		for (const question of this.#open.get(live.head.method) ?? []) {
			if (count++ === MAX_COMPARED) break;
			const {params} = recording.body(question);
			const found = differences({params}, {params: live.body.params}, rules);
			if (!best || found.length < best[1].length) best = [question, found];
			if (found.length === 0) break;
		}
		return best;
	}

	#answer(recorded: Recorded | undefined, live: Envelope): Envelope | undefined {
		const {recording, given, origin, renamed} = this.#options;
		if (!recorded) return;
		const line = renamed.apply(withSecrets(recording.line(recorded), given));
		return Envelope.received(line, origin).relayed(origin, live.head.id);
	}

	/** What is answered to a question beyond those that were recorded. */
	#once(live: Envelope): Envelope {
		const {id = 'null', method} = live.head;
		if (method === 'ping') return Envelope.answer(id, 'result', {});
		const error = {code: -32601, message: `Method not found: ${method} was not asked in the recording`};
		return this.#answer(this.#last.get(method), live) ?? Envelope.answer(id, 'error', error);
	}
}
