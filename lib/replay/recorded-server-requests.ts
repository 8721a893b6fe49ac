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
	readonly origin: MessageOrigin;
};

type ServerRequestReply = {readonly response: Envelope | undefined; readonly outcome: ReplayOutcome};

/** Limit of recorded server requests that are compared to find the most similar one. */
const MAX_COMPARED = 100;

/** Recorded server requests with their responses, for a live server that sends the same requests. */
export class RecordedServerRequests {
	readonly #options: RecordedServerRequestsOptions;
	/** Server requests that the live server has not sent yet, by method, in recorded order. */
	readonly #unmatched = new Map<string | undefined, Set<RecordedMessage>>();
	readonly #matched = new Set<RecordedMessage>();
	/** The last response by method, for requests that exceed the recorded ones. */
	readonly #lastResponses = new Map<string | undefined, RecordedMessage>();

	constructor(options: RecordedServerRequestsOptions) {
		this.#options = options;
		for (const message of options.messages) {
			if (message.kind !== 'request' || message.from !== 'server') continue;
			const requests = this.#unmatched.get(message.method) ?? new Set();
			this.#unmatched.set(message.method, requests.add(message));
		}
	}

	isMatched(serverRequest: RecordedMessage): boolean {
		return this.#matched.has(serverRequest);
	}

	/** Returns the recorded server requests that the live server has not sent. */
	unmatched(): RecordedMessage[] {
		return [...this.#unmatched.values()].flatMap(requests => [...requests]);
	}

	/** Responds to a live server request as the recorded client did. */
	respond(live: Envelope): ServerRequestReply {
		const {method} = live.head;
		const found = this.#find(live);
		const title = `${method} (server request)`;
		if (!found) {
			// The number of pings depends on timing.
			const status = method === 'ping' ? 'same' : 'failed';
			const failure = 'The server sent this more often than in the recording.';
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
		const name = `${messageTitle(serverRequest, this.#options.recording)} (server request)`;
		return {response: this.#respondWith(recorded, live), outcome: {title: name, status, differences, ms: 0}};
	}

	/** Returns the most similar recorded server request, with its differences. */
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

	/** Responds to a server request that exceeds the recorded ones. */
	#respondToUnrecorded(live: Envelope): Envelope {
		const {id = 'null', method} = live.head;
		if (method === 'ping') return Envelope.response(id, 'result', {});
		const error = {code: -32601, message: `Method not found: ${method} is not in the recording`};
		return this.#respondWith(this.#lastResponses.get(method), live) ?? Envelope.response(id, 'error', error);
	}
}
