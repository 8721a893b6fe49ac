import type {Case} from '../helpers/translation-cases.js';
import {type Pair, type Setting, shakeHands, versioned} from '../helpers/version-stages.js';

export type Json = {readonly [key: string]: unknown};

/** Plays a case that takes more than one message to get to. Returns what is sent. */
export type Play = (each: Case) => unknown;

export const before = (each: Case): Json => each.before as Json;
export const say = (side: Pair['client'], message: unknown): void => side.sendText(JSON.stringify(message));
export const ready = (setting: Setting): Pair => {
	const pair = versioned();
	shakeHands(pair, setting);
	return pair;
};

/** What a side has heard since. */
export const since = (side: Pair['client'], action: () => void): unknown[] => {
	const {length} = side.received;
	action();
	return side.received.slice(length);
};

/** The client begins, and nothing is known of it yet. */

/** The client begins, and nothing is known of it yet. */
export const firstWord =
	(options: Json = {}): Play =>
	each => {
		const pair = versioned(options);
		const hearer = each.afterTo === 'sender' ? pair.client : pair.upstream;
		return since(hearer, () => say(pair.client, each.before))[0];
	};

/** Said between `initialize` and `initialized`. */
export const inHandshake: Play = each => {
	const pair = versioned();
	shakeHands(pair, {client: each.from, server: each.to, isInitialized: false});
	return since(pair.upstream, () => say(pair.client, each.before))[0] ?? null;
};
