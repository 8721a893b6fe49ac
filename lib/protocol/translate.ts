import {marks} from '../wire/marks.js';
import {isKnownTo} from './content.js';
import {FormAnswers} from './form-answers.js';
import {isObject, type JsonObject, objectOf} from './json.js';
import {restored, withOriginals} from './original.js';
import {Plan} from './plan.js';
import {repairs} from './repairs.js';
import type {Touching} from './session.js';
import {
	type Context,
	type Direction,
	DROPPED,
	ifMarked,
	type Memory,
	Refusal,
	Reply,
	type Rule,
	type Rules,
	type Step,
	type Verdict,
} from './step.js';
import {strictRules} from './strict.js';
import {v20250326} from './v2025-03-26.js';
import {v20250618} from './v2025-06-18.js';
import {v20251125} from './v2025-11-25.js';
import type {HandshakeVersion} from './version.js';

/** The steps from version to version, the oldest first. */
const steps: readonly Step[] = [v20250326, v20250618, v20251125];

const CALL = 'tools/call';

export type Kind = 'request' | 'notification' | 'result' | 'error';

/** The member of a message that its rules judge. */
const judged = {request: 'params', notification: 'params', result: 'result', error: 'error'} as const;

export type TranslatorOptions = {
	readonly client: HandshakeVersion;
	readonly upstream: HandshakeVersion;
	/** Whether members that the receiver's version does not have are removed. */
	readonly isStrict?: boolean;
	readonly clientCapabilities?: JsonObject;
	readonly isShared?: boolean;
	/** Told of each thing that cannot be carried. */
	readonly onLoss?: (feature: string) => void;
};

/** What becomes of a message: it goes on as another one, goes back as an answer, or goes nowhere. */
export type Outcome = {readonly on?: JsonObject; readonly back?: JsonObject};

/** Rules by kind and method of a message. */
type Plans = {readonly [kind in Kind]: ReadonlyMap<string, Plan>};

/** Says what each message between two versions becomes: the chain of the steps between them. */
export class Translator {
	readonly #options: TranslatorOptions;
	readonly #toUpstream: Plans;
	readonly #toClient: Plans;
	readonly #memory: Memory = {completionsSynthesized: false, forms: new FormAnswers()};

	constructor(options: TranslatorOptions) {
		const {client, upstream, isStrict = false} = options;
		this.#options = options;
		this.#toUpstream = plansOf(rulesBetween(client, upstream, isStrict));
		this.#toClient = plansOf([...rulesBetween(upstream, client, isStrict), ...repairRules()]);
	}

	/** The rules for such messages, if there are any. The method of an answer is that of its request. */
	planFor(direction: Direction, kind: Kind, method: string): Plan | undefined {
		const plans = direction === 'toClient' ? this.#toClient : this.#toUpstream;
		// Nearly all messages are one of these two, and to look a name up takes longer than to compare it.
		if (kind === 'result') return plans.result.get(method);
		if (kind === 'request') return plans.request.get(method);
		return kind === 'error' ? (plans.error.get(method) ?? plans.error.get('*')) : plans[kind].get(method);
	}

	/** Which calls of tools, and which answers to them, are changed at all. */
	get touching(): Touching {
		return {
			calls: this.planFor('toUpstream', 'request', CALL)?.touching ?? 0,
			results: this.planFor('toClient', 'result', CALL)?.touching ?? 0,
			errors: this.planFor('toClient', 'error', CALL)?.touching ?? 0,
		};
	}

	/** What becomes of a message with this id; nothing, if it passes as it is. */
	translate(
		direction: Direction,
		kind: Kind,
		method: string,
		body: JsonObject,
		id: string,
	): Outcome | undefined {
		const originals = new Map<string, unknown>();
		const context = this.#context(direction, id, originals);
		const given = objectOf(body[judged[kind]]);
		let value = given;
		for (const {apply} of this.planFor(direction, kind, method)?.rules ?? []) {
			const verdict = apply(value, context);
			if (isFinal(verdict)) return final(verdict, kind, body);
			value = verdict;
		}
		if (originals.size > 0) value = withOriginals(value, originals);
		return value === given ? undefined : {on: {...body, [judged[kind]]: value}};
	}

	#context(direction: Direction, id: string, originals: Map<string, unknown>): Context {
		const {client, upstream, clientCapabilities = {}, isShared = false, onLoss = () => {}} = this.#options;
		return {
			direction,
			to: direction === 'toClient' ? client : upstream,
			id,
			clientCapabilities,
			isShared,
			memory: this.#memory,
			lost: onLoss,
			keep: (pointer, original) => originals.set(pointer, original),
		};
	}
}

/** The rules of the steps on the way, in the order in which they are taken. */
function rulesBetween(from: HandshakeVersion, to: HandshakeVersion, isStrict: boolean): Rules[] {
	const isOnTheWay = ({version}: Step): boolean =>
		from < to ? version > from && version <= to : version > to && version <= from;
	const way = steps.filter(isOnTheWay);
	// What is unknown may also come from a peer that says it is older.
	const strict = isStrict ? [strictRules(steps.filter(({version}) => version > to))] : [];
	if (from < to) return [...way.map(({up}) => up), restoring(to), ...strict];
	return [...way.toReversed().map(({down}) => down), ...strict];
}

/** Puts back what another bridge had to take out. */
function restoring(to: HandshakeVersion): Rules {
	const isWelcome = (original: unknown): boolean =>
		Array.isArray(original) ? to >= '2025-11-25' : isObject(original) && isKnownTo(to, original.type);
	const rule = ifMarked(marks.original, value => restored(value, isWelcome));
	return {results: {'tools/call': rule, 'prompts/get': rule, 'sampling/createMessage': rule}};
}

const repairRules = (): Rules[] =>
	Object.entries(repairs).flatMap(([method, rules]) => rules.map(rule => ({results: {[method]: rule}})));

function plansOf(list: readonly Rules[]): Plans {
	const collect = (member: keyof Rules): Map<string, Plan> => {
		const rules = new Map<string, Rule[]>();
		for (const [method, rule] of list.flatMap(each => Object.entries(each[member] ?? {})))
			rules.set(method, [...(rules.get(method) ?? []), rule]);
		return new Map([...rules].map(([method, each]) => [method, new Plan(each)]));
	};
	return {
		request: collect('requests'),
		notification: collect('notifications'),
		result: collect('results'),
		error: collect('errors'),
	};
}

type Final = Exclude<Verdict, JsonObject> | Refusal | Reply;

const isFinal = (verdict: Verdict): verdict is Final =>
	verdict === DROPPED || verdict instanceof Refusal || verdict instanceof Reply;

/** A request is answered by what is decided here; an answer is replaced by it. */
function final(verdict: Final, kind: Kind, {jsonrpc, id}: JsonObject): Outcome {
	if (verdict === DROPPED) return {};
	const answer =
		verdict instanceof Refusal
			? {jsonrpc, id, error: {code: verdict.code, message: verdict.message}}
			: {jsonrpc, id, result: verdict.result};
	return kind === 'request' ? {back: answer} : {on: answer};
}
