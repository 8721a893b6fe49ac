import assert from 'node:assert/strict';
import fc from 'fast-check';
import {isObject, type JsonObject, objectOf} from '../../lib/util/json.js';
import {methodsOf} from '../helpers/mcp-arbitrary.js';
import type {McpVersion} from '../helpers/mcp-version.js';
import type {SentRequest} from '../helpers/validity/rules.js';
import type {Validator} from '../helpers/validity/validators.js';
import {type Pair, shakeHands, versioned} from '../helpers/version-stages.js';

export const MODERN = '2026-07-28';

type SideName = 'client' | 'upstream';

export type Capabilities = {readonly client?: JsonObject; readonly server?: JsonObject};

/** Requests of bridge's own that a server answers with nothing. */
const plainlyAnswered: readonly unknown[] = [
	'logging/setLevel',
	'resources/subscribe',
	'resources/unsubscribe',
];

/** A conversation of two versions, of which each side notes what it asks, so that all it hears can be checked. */
export class Talk {
	readonly pair: Pair;
	readonly #versions: {readonly [side in SideName]: McpVersion};
	readonly #asked: {readonly [side in SideName]: Map<string | number, SentRequest>};

	constructor(client: McpVersion, upstream: McpVersion, capabilities: Capabilities = {}) {
		this.#versions = {client, upstream};
		const greeting = client === MODERN ? 'server/discover' : 'initialize';
		this.#asked = {client: new Map([['pre', {method: greeting}]]), upstream: new Map()};
		// A modern server that is not known to be one is asked to initialize first, which its version has no word for.
		this.pair = versioned(upstream === MODERN ? {targetVersion: MODERN} : {});
		shakeHands(this.pair, {
			client,
			server: upstream,
			...(capabilities.client ? {clientCapabilities: capabilities.client} : {}),
			...(capabilities.server ? {serverCapabilities: capabilities.server} : {}),
		});
	}

	/** Says something, and returns what the other side hears of it. */
	say(side: SideName, message: object, definition?: string): JsonObject[] {
		const other = side === 'client' ? 'upstream' : 'client';
		const before = this.pair[other].received.length;
		const {id, method} = message as {id?: string | number; method?: string};
		if (id !== undefined && method !== undefined)
			this.#asked[side].set(id, definition === undefined ? {method} : {method, definition});
		this.pair[side].sendText(JSON.stringify(message));
		const heard = this.pair[other].received.slice(before);
		if (other === 'upstream') this.#answerPlainly(heard);
		return heard;
	}

	#answerPlainly(heard: readonly JsonObject[]): void {
		for (const {id, method} of heard)
			if (plainlyAnswered.includes(method)) this.pair.upstream.send({id, result: {}});
	}

	/** Fails unless all that either side has received is valid in its own version. */
	check(validator: Validator): void {
		for (const side of ['client', 'upstream'] as const)
			for (const message of this.pair[side].received) {
				const version = this.#versions[side];
				const violations = validator.violations(version, message, this.#asked[side]);
				if ('method' in message && !isSentBy(version, side, message.method))
					violations.push(`${version} does not allow ${message.method} to the ${side}`);
				assert.deepEqual(violations, [], `${side} received ${JSON.stringify(message)}`);
			}
	}
}

/** Whether a version has a message that the other side may send to this one. */
function isSentBy(version: McpVersion, to: SideName, method: unknown): boolean {
	const {requests, notifications} = methodsOf(version, to === 'client' ? 'server' : 'client');
	return [...requests, ...notifications].some(each => each === method);
}

/** Tries a property so often, and says what was wrong where it does not hold. */
export const holds = <Values>(property: fc.IPropertyWithHooks<Values>, numRuns: number): void =>
	fc.assert(property, {numRuns, includeErrorInReport: true});

export const isInputRequired = (message: unknown): boolean =>
	isObject(message) && objectOf(message.result).resultType === 'input_required';
