import type {JsonObject} from '../util/json.js';
import type {FormResponses} from './form-responses.js';
import type {Version} from './version.js';

export type MessageDirection = 'toUpstream' | 'toClient';

export class RpcErrorReply {
	readonly code: number;
	readonly message: string;

	constructor(code: number, message: string) {
		this.code = code;
		this.message = message;
	}
}

export class SyntheticResult {
	readonly result: JsonObject;

	constructor(result: JsonObject) {
		this.result = result;
	}
}

export const DROPPED = Symbol('dropped');

/** The effect of a rule on a message: the same value, a changed one, a final response, or `DROPPED`. */
export type RuleResult = JsonObject | RpcErrorReply | SyntheticResult | typeof DROPPED;

export type RuleContext = {
	readonly direction: MessageDirection;
	readonly to: Version;
	/** The id of the message, as text. */
	readonly id: string;
	readonly clientCapabilities: JsonObject;
	/** Whether several clients share the upstream, so its client capabilities exceed those of each client. */
	readonly isShared: boolean;
	readonly state: TranslationState;
	reportLoss(feature: string): void;
	/** Preserves the original value at this JSON pointer in the `_meta` of the message. */
	keepOriginal(pointer: string, original: unknown): void;
};

export type TranslationState = {
	/** Whether bridge declared completions that the upstream did not declare. */
	hasSyntheticCompletions: boolean;
	/** The readers for responses to downgraded forms, by request id. */
	readonly forms: FormResponses;
};

export type TranslationRule = {
	readonly apply: (value: JsonObject, context: RuleContext) => RuleResult;
	/** The marks of messages that need the rule. Messages without them need not be parsed. */
	readonly marks?: number;
	/** Substrings that mark messages that need the rule. Used for rare messages without a mark. */
	readonly substrings?: readonly string[];
};

/** Rules by method. The method of a response is that of its request. */
export type TranslationRules = {
	readonly requests?: {readonly [method: string]: TranslationRule};
	readonly notifications?: {readonly [method: string]: TranslationRule};
	readonly results?: {readonly [method: string]: TranslationRule};
	/** The key `*` applies to the errors of all methods. */
	readonly errors?: {readonly [method: string]: TranslationRule};
};

export type VersionStep = {
	readonly version: Version;
	/** For messages to a peer of an earlier version. */
	readonly down: TranslationRules;
	/** For messages from a peer of an earlier version. */
	readonly up: TranslationRules;
	/** The members that the version added, by kind of object. Strict translation removes them. */
	readonly members: {readonly [kind: string]: readonly string[]};
};

export const ifMarked = (bits: number, apply: TranslationRule['apply']): TranslationRule => ({
	apply,
	marks: bits,
});

export const ifContains = (
	substrings: readonly string[],
	apply: TranslationRule['apply'],
): TranslationRule => ({apply, substrings});
