import {Envelope, type MessageOrigin} from '../core/envelope.js';
import type {RecordedMessage} from '../traffic-log/log-contents.js';
import {type ComparisonRules, findDifferences, type ValueDifference} from './compare.js';
import type {IdMap} from './id-map.js';
import {messageTitle, type ReplayOutcome} from './outcome.js';
import type {Recording} from './recording.js';
import {fillSecrets, type SecretValue} from './secret-values.js';

type RecordedServerRequestsOptions = {
	readonly recording: Recording;
	readonly messages: readonly RecordedMessage[];
	readonly pairs: ReadonlyMap<RecordedMessage, RecordedMessage>;
	readonly rules: ComparisonRules;
	readonly secretValues: readonly SecretValue[];
	readonly idMap: IdMap;
	/** Who answers. */
	readonly origin: MessageOrigin;
};

/** What was done about a question of a server. */
type ServerRequestReply = {readonly response: Envelope | undefined; readonly outcome: ReplayOutcome};

/** Of so many recorded questions the most similar one is looked for. */
const MAX_COMPARED = 100;

/** What a recorded server asked its client, and what it was answered: for a live server that asks the same. */
export class RecordedServerRequests {
	readonly #options: RecordedServerRequestsOptions;
	/** What has not been asked yet, by method, in the order of the recording. */
	readonly #unmatched = new Map<string | undefined, Set<RecordedMessage>>();
	readonly #matched = new Set<RecordedMessage>();
	/** What was answered last, for those who ask once more. */
	readonly #lastResponses = new Map<string | undefined, RecordedMessage>();

	constructor(options: RecordedServerRequestsOptions) {
		this.#options = options;
		for (const message of options.messages) {
			if (message.kind !== 'request' || message.from !== 'server') continue;
			const open = this.#unmatched.get(message.method) ?? new Set();
			this.#unmatched.set(message.method, open.add(message));
		}
	}

	isMatched(serverRequest: RecordedMessage): boolean {
		return this.#matched.has(serverRequest);
	}

	/** What was asked when it was recorded, and has not been asked since. */
	unmatched(): RecordedMessage[] {
		return [...this.#unmatched.values()].flatMap(open => [...open]);
	}

	/** A live server asks. It is answered what the recorded client answered. */
	respond(live: Envelope): ServerRequestReply {
		const {method} = live.head;
		const found = this.#find(live);
		const title = `${method} (asked by the server)`;
		if (!found) {
			// Whether a server asks that is a matter of time.
			const status = method === 'ping' ? 'same' : 'failed';
			const failure = 'The server asked this more often than when it was recorded.';
			return {
				response: this.#respondToUnrecorded(live),
				outcome: {title, status, differences: [], failure, ms: 0},
			};
		}
		const [serverRequest, differences] = found;
		this.#unmatched.get(method)?.delete(serverRequest);
		this.#matched.add(serverRequest);
		const recorded = this.#options.pairs.get(serverRequest);
		if (recorded) this.#lastResponses.set(method, recorded);
		const status = differences.length === 0 ? 'same' : 'different';
		const name = `${messageTitle(serverRequest, this.#options.recording)} (asked by the server)`;
		return {response: this.#respondWith(recorded, live), outcome: {title: name, status, differences, ms: 0}};
	}

	/** The recorded question that is most like this one. */
	#find(live: Envelope): readonly [RecordedMessage, readonly ValueDifference[]] | undefined {
		const {recording, rules} = this.#options;
		let best: readonly [RecordedMessage, readonly ValueDifference[]] | undefined;
		let count = 0;
		for (const serverRequest of this.#unmatched.get(live.head.method) ?? []) {
			if (count++ === MAX_COMPARED) break;
			const {params} = recording.body(serverRequest);
			const found = findDifferences({params}, {params: live.body.params}, rules);
			if (!best || found.length < best[1].length) best = [serverRequest, found];
			if (found.length === 0) break;
		}
		return best;
	}

	#respondWith(recorded: RecordedMessage | undefined, live: Envelope): Envelope | undefined {
		const {recording, secretValues, origin, idMap} = this.#options;
		if (!recorded) return;
		const line = idMap.apply(fillSecrets(recording.line(recorded), secretValues));
		return Envelope.received(line, origin).forwardedAs(origin, live.head.id);
	}

	/** What is answered to a question beyond those that were recorded. */
	#respondToUnrecorded(live: Envelope): Envelope {
		const {id = 'null', method} = live.head;
		if (method === 'ping') return Envelope.response(id, 'result', {});
		const error = {code: -32601, message: `Method not found: ${method} was not asked in the recording`};
		return this.#respondWith(this.#lastResponses.get(method), live) ?? Envelope.response(id, 'error', error);
	}
}
