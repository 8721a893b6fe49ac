import {isObject, type JsonObject, objectOf} from '../util/json.js';
import {marks} from '../wire/marks.js';
import {supportsContentType} from './content.js';
import {FormResponses} from './form-responses.js';
import type {TransformMarks} from './negotiation.js';
import {restoreOriginals, withOriginals} from './originals.js';
import {repairs} from './repairs.js';
import {RuleSet} from './rule-set.js';
import {strictRules} from './strict-rules.js';
import {
	DROPPED,
	ifMarked,
	type MessageDirection,
	RpcErrorReply,
	type RuleContext,
	type RuleResult,
	SyntheticResult,
	type TranslationRule,
	type TranslationRules,
	type TranslationState,
	type VersionStep,
} from './translation-rule.js';
import {v20250326} from './v2025-03-26.js';
import {v20250618} from './v2025-06-18.js';
import {v20251125} from './v2025-11-25.js';
import type {HandshakeVersion} from './version.js';

/** In ascending order of version. */
const steps: readonly VersionStep[] = [v20250326, v20250618, v20251125];

const CALL = 'tools/call';

export type MessageKind = 'request' | 'notification' | 'result' | 'error';

const bodyMembers = {request: 'params', notification: 'params', result: 'result', error: 'error'} as const;

export type TranslatorOptions = {
	readonly client: HandshakeVersion;
	readonly upstream: HandshakeVersion;
	/** Whether members that the receiver's version does not have are removed. */
	readonly isStrict?: boolean;
	readonly clientCapabilities?: JsonObject;
	readonly isShared?: boolean;
	readonly onLoss?: (feature: string) => void;
};

/**
 * The effect on a message: `forward` replaces it and `reply` goes back to its sender. If both are
 * absent, the message is dropped.
 */
export type TranslatedMessage = {readonly forward?: JsonObject; readonly reply?: JsonObject};

type RuleSets = {readonly [kind in MessageKind]: ReadonlyMap<string, RuleSet>};

/** Translates messages between two versions, with the chain of the steps between them. */
export class Translator {
	readonly #options: TranslatorOptions;
	readonly #toUpstream: RuleSets;
	readonly #toClient: RuleSets;
	readonly #state: TranslationState = {hasSyntheticCompletions: false, forms: new FormResponses()};

	constructor(options: TranslatorOptions) {
		const {client, upstream, isStrict = false} = options;
		this.#options = options;
		this.#toUpstream = ruleSetsOf(rulesBetween(client, upstream, isStrict));
		this.#toClient = ruleSetsOf([...rulesBetween(upstream, client, isStrict), ...repairRules()]);
	}

	/** The rules for a kind of message, if any. The method of a response is that of its request. */
	ruleSetFor(direction: MessageDirection, kind: MessageKind, method: string): RuleSet | undefined {
		const ruleSets = direction === 'toClient' ? this.#toClient : this.#toUpstream;
		// Nearly all messages are results or requests, and a comparison is faster than a lookup by name.
		if (kind === 'result') return ruleSets.result.get(method);
		if (kind === 'request') return ruleSets.request.get(method);
		return kind === 'error'
			? (ruleSets.error.get(method) ?? ruleSets.error.get('*'))
			: ruleSets[kind].get(method);
	}

	get transformMarks(): TransformMarks {
		return {
			calls: this.ruleSetFor('toUpstream', 'request', CALL)?.transformMarks ?? 0,
			results: this.ruleSetFor('toClient', 'result', CALL)?.transformMarks ?? 0,
			errors: this.ruleSetFor('toClient', 'error', CALL)?.transformMarks ?? 0,
		};
	}

	/** Translates a message with this id. Returns undefined if it is unchanged. */
	translate(
		direction: MessageDirection,
		kind: MessageKind,
		method: string,
		body: JsonObject,
		id: string,
	): TranslatedMessage | undefined {
		const originals = new Map<string, unknown>();
		const context = this.#context(direction, id, originals);
		const original = objectOf(body[bodyMembers[kind]]);
		let value = original;
		for (const {apply} of this.ruleSetFor(direction, kind, method)?.rules ?? []) {
			const ruleResult = apply(value, context);
			if (isFinal(ruleResult)) return finalMessage(ruleResult, kind, body);
			value = ruleResult;
		}
		if (originals.size > 0) value = withOriginals(value, originals);
		return value === original ? undefined : {forward: {...body, [bodyMembers[kind]]: value}};
	}

	#context(direction: MessageDirection, id: string, originals: Map<string, unknown>): RuleContext {
		const {client, upstream, clientCapabilities = {}, isShared = false, onLoss = () => {}} = this.#options;
		return {
			direction,
			to: direction === 'toClient' ? client : upstream,
			id,
			clientCapabilities,
			isShared,
			state: this.#state,
			reportLoss: onLoss,
			keepOriginal: (pointer, original) => originals.set(pointer, original),
		};
	}
}

function rulesBetween(from: HandshakeVersion, to: HandshakeVersion, isStrict: boolean): TranslationRules[] {
	const isBetween = ({version}: VersionStep): boolean =>
		from < to ? version > from && version <= to : version > to && version <= from;
	const path = steps.filter(isBetween);
	// An older peer may also send members of newer versions.
	const strict = isStrict ? [strictRules(steps.filter(({version}) => version > to))] : [];
	if (from < to) return [...path.map(({up}) => up), restoreRules(to), ...strict];
	return [...path.toReversed().map(({down}) => down), ...strict];
}

/** Restores the originals that another bridge preserved. */
function restoreRules(to: HandshakeVersion): TranslationRules {
	const accepts = (original: unknown): boolean =>
		Array.isArray(original)
			? to >= '2025-11-25'
			: isObject(original) && supportsContentType(to, original.type);
	const rule = ifMarked(marks.original, value => restoreOriginals(value, accepts));
	return {results: {'tools/call': rule, 'prompts/get': rule, 'sampling/createMessage': rule}};
}

const repairRules = (): TranslationRules[] =>
	Object.entries(repairs).flatMap(([method, rules]) => rules.map(rule => ({results: {[method]: rule}})));

function ruleSetsOf(list: readonly TranslationRules[]): RuleSets {
	const collect = (member: keyof TranslationRules): Map<string, RuleSet> => {
		const rules = new Map<string, TranslationRule[]>();
		for (const [method, rule] of list.flatMap(each => Object.entries(each[member] ?? {})))
			rules.set(method, [...(rules.get(method) ?? []), rule]);
		return new Map([...rules].map(([method, each]) => [method, new RuleSet(each)]));
	};
	return {
		request: collect('requests'),
		notification: collect('notifications'),
		result: collect('results'),
		error: collect('errors'),
	};
}

type FinalResult = Exclude<RuleResult, JsonObject> | RpcErrorReply | SyntheticResult;

const isFinal = (result: RuleResult): result is FinalResult =>
	result === DROPPED || result instanceof RpcErrorReply || result instanceof SyntheticResult;

/** For a request, the result is sent as its response. For a response, it replaces the response. */
function finalMessage(result: FinalResult, kind: MessageKind, {jsonrpc, id}: JsonObject): TranslatedMessage {
	if (result === DROPPED) return {};
	const response =
		result instanceof RpcErrorReply
			? {jsonrpc, id, error: {code: result.code, message: result.message}}
			: {jsonrpc, id, result: result.result};
	return kind === 'request' ? {reply: response} : {forward: response};
}
