import assert from 'node:assert/strict';
import fc from 'fast-check';
import {isObject, type JsonObject, objectOf} from '../../lib/util/json.js';
import {methodsOf} from '../helpers/mcp-arbitrary.js';
import type {McpVersion} from '../helpers/mcp-version.js';
import type {SentRequest} from '../helpers/validity/rules.js';
import type {Validator} from '../helpers/validity/validators.js';
import {type Pair, shakeHands, versioned} from '../helpers/version-stages.js';

export const STATELESS = '2026-07-28';

type SideName = 'client' | 'upstream';

export type Capabilities = {readonly client?: JsonObject; readonly server?: JsonObject};

/** Requests of bridge itself that a server responds to with an empty result. */
const emptyResultMethods: readonly unknown[] = [
	'logging/setLevel',
	'resources/subscribe',
	'resources/unsubscribe',
];

/**
 * A conversation between two versions. It records the requests of each side, so that all received messages
 * can be validated.
 */
export class Conversation {
	readonly pair: Pair;
	readonly #versions: {readonly [side in SideName]: McpVersion};
	readonly #sent: {readonly [side in SideName]: Map<string | number, SentRequest>};

	constructor(client: McpVersion, upstream: McpVersion, capabilities: Capabilities = {}) {
		this.#versions = {client, upstream};
		const firstMethod = client === STATELESS ? 'server/discover' : 'initialize';
		this.#sent = {client: new Map([['pre', {method: firstMethod}]]), upstream: new Map()};
		// Without this target, bridge would first send `initialize`, which a stateless server does not have.
		this.pair = versioned(upstream === STATELESS ? {targetVersion: STATELESS} : {});
		shakeHands(this.pair, {
			client,
			server: upstream,
			...(capabilities.client ? {clientCapabilities: capabilities.client} : {}),
			...(capabilities.server ? {serverCapabilities: capabilities.server} : {}),
		});
	}

	send(side: SideName, message: object, definition?: string): JsonObject[] {
		const other = side === 'client' ? 'upstream' : 'client';
		const before = this.pair[other].received.length;
		const {id, method} = message as {id?: string | number; method?: string};
		if (id !== undefined && method !== undefined)
			this.#sent[side].set(id, definition === undefined ? {method} : {method, definition});
		this.pair[side].sendText(JSON.stringify(message));
		const received = this.pair[other].received.slice(before);
		if (other === 'upstream') this.#sendEmptyResults(received);
		return received;
	}

	#sendEmptyResults(requests: readonly JsonObject[]): void {
		for (const {id, method} of requests)
			if (emptyResultMethods.includes(method)) this.pair.upstream.send({id, result: {}});
	}

	/** Fails unless all messages that either side received are valid in its version. */
	check(validator: Validator): void {
		for (const side of ['client', 'upstream'] as const)
			for (const message of this.pair[side].received) {
				const version = this.#versions[side];
				const violations = validator.violations(version, message, this.#sent[side]);
				if ('method' in message && !isSentBy(version, side, message.method))
					violations.push(`${version} does not allow ${message.method} to the ${side}`);
				assert.deepEqual(violations, [], `${side} received ${JSON.stringify(message)}`);
			}
	}
}

/** Whether a version allows this side to receive the message. */
function isSentBy(version: McpVersion, to: SideName, method: unknown): boolean {
	const {requests, notifications} = methodsOf(version, to === 'client' ? 'server' : 'client');
	return [...requests, ...notifications].some(each => each === method);
}

/** Checks a property this many times, and reports the first counterexample. */
export const holds = <Values>(property: fc.IPropertyWithHooks<Values>, numRuns: number): void =>
	fc.assert(property, {numRuns, includeErrorInReport: true});

export const isInputRequired = (message: unknown): boolean =>
	isObject(message) && objectOf(message.result).resultType === 'input_required';
