import type {JsonObject} from '../util/json.js';
import type {FormResponses} from './form-responses.js';
import type {Version} from './version.js';

export type MessageDirection = 'toUpstream' | 'toClient';

/** An error instead of an answer. */
export class RpcErrorReply {
	readonly code: number;
	readonly message: string;

	constructor(code: number, message: string) {
		this.code = code;
		this.message = message;
	}
}

/** A result that is made up here. */
export class SyntheticResult {
	readonly result: JsonObject;

	constructor(result: JsonObject) {
		this.result = result;
	}
}

/** Nothing goes on. */
export const DROPPED = Symbol('dropped');

/** What becomes of a message: the same value if it passes as it is, another one, or none. */
export type RuleResult = JsonObject | RpcErrorReply | SyntheticResult | typeof DROPPED;

/** What a rule knows of the message and of the conversation that it belongs to. */
export type RuleContext = {
	readonly direction: MessageDirection;
	/** The version of the receiver. */
	readonly to: Version;
	/** The id of the message, as text. */
	readonly id: string;
	/** What the client said that it can do. */
	readonly clientCapabilities: JsonObject;
	/** Whether bridge speaks for several clients, and so has offered more than each of them can do. */
	readonly isShared: boolean;
	readonly state: TranslationState;
	/** Something cannot be carried. */
	reportLoss(feature: string): void;
	/** Keeps what stood at this place of the message, in the message itself. */
	keepOriginal(pointer: string, original: unknown): void;
};

/** What has to be remembered of one message for another. */
export type TranslationState = {
	/** Whether the client was told of completions that the upstream never declared. */
	hasSyntheticCompletions: boolean;
	/** Forms that were shown as another form, by the id of the request, with how to read the answers. */
	readonly forms: FormResponses;
};

/** Judges `params`, `result` or `error` of a message. */
export type TranslationRule = {
	readonly apply: (value: JsonObject, context: RuleContext) => RuleResult;
	/** What a message has to have inside to need the rule, as bits of marks: what need not be parsed is not. */
	readonly marks?: number;
	/** Words one of which it has to hold, where there is no mark for it: for messages that are rare. */
	readonly substrings?: readonly string[];
};

/** Rules by method: of the message, or of the request that it answers. */
export type TranslationRules = {
	readonly requests?: {readonly [method: string]: TranslationRule};
	readonly notifications?: {readonly [method: string]: TranslationRule};
	readonly results?: {readonly [method: string]: TranslationRule};
	/** Under `*`, for the errors of every method. */
	readonly errors?: {readonly [method: string]: TranslationRule};
};

/** What one version brought, and what that means to those who do not know it. */
export type VersionStep = {
	readonly version: Version;
	/** For messages to a peer of an earlier version. */
	readonly down: TranslationRules;
	/** For messages from a peer of an earlier version. */
	readonly up: TranslationRules;
	/** Members that it added, by the kind of object: those that a strict translation removes. */
	readonly members: {readonly [kind: string]: readonly string[]};
};

/** A rule for messages that have one of these marks. */
export const ifMarked = (bits: number, apply: TranslationRule['apply']): TranslationRule => ({
	apply,
	marks: bits,
});

/** A rule for messages that hold one of these words. */
export const ifContains = (
	substrings: readonly string[],
	apply: TranslationRule['apply'],
): TranslationRule => ({apply, substrings});
