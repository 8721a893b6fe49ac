import type {Case} from '../helpers/translation-cases.js';
import {type Pair, type Setting, shakeHands, versioned} from '../helpers/version-stages.js';

export type Json = {readonly [key: string]: unknown};

/** Plays a case that needs more than one message. Returns the resulting message. */
export type Play = (each: Case) => unknown;

export const before = (each: Case): Json => each.before as Json;
export const sendJson = (side: Pair['client'], message: unknown): void =>
	side.sendText(JSON.stringify(message));
export const ready = (setting: Setting): Pair => {
	const pair = versioned();
	shakeHands(pair, setting);
	return pair;
};

export const since = (side: Pair['client'], action: () => void): unknown[] => {
	const {length} = side.received;
	action();
	return side.received.slice(length);
};

/** Plays a case in which the client sends its first message. */
export const firstMessage =
	(options: Json = {}): Play =>
	each => {
		const pair = versioned(options);
		const target = each.afterTo === 'sender' ? pair.client : pair.upstream;
		return since(target, () => sendJson(pair.client, each.before))[0];
	};

/** Plays a case between `initialize` and `notifications/initialized`. */
export const inHandshake: Play = each => {
	const pair = versioned();
	shakeHands(pair, {client: each.from, server: each.to, isInitialized: false});
	return since(pair.upstream, () => sendJson(pair.client, each.before))[0] ?? null;
};
