import type {JsonObject} from '../protocol/json.js';
import {Refusal} from '../sessions/refusal.js';
import type {Letter} from './outgoing.js';

/** What a call of atm_read asks for. */
export type ReadCall = {
	readonly isAll: boolean;
	readonly marks: boolean;
	readonly limit: number;
	/** In ms since the epoch. */
	readonly since: number | undefined;
	readonly from: string | undefined;
};

const LIMIT = 10;
const MAX_LIMIT = 100;

/** Understands the arguments of atm_read, or refuses them. */
export function readCall(args: JsonObject): ReadCall {
	const {limit = LIMIT} = args;
	if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
		throw invalid(`limit is a whole number from 1 to ${MAX_LIMIT}.`);
	const time = textOf(args, 'since');
	const since = time === undefined ? undefined : Date.parse(time);
	if (Number.isNaN(since)) throw invalid('since is a time in ISO 8601, like 2026-02-18T10:00:00Z.');
	return {
		isAll: flagOf(args, 'all', false),
		marks: flagOf(args, 'mark_read', true),
		limit,
		since,
		from: textOf(args, 'from'),
	};
}

/** What atm_send and atm_broadcast are to say. */
export function letterOf(args: JsonObject): Letter {
	const text = textOf(args, 'message');
	if (text === undefined) throw invalid('There has to be a message.');
	const {priority = 'normal'} = args;
	if (priority !== 'normal' && priority !== 'urgent') throw invalid('priority is normal or urgent.');
	return {text, summary: textOf(args, 'summary'), isUrgent: priority === 'urgent'};
}

/** An argument that is a text, and not an empty one. */
export function textOf(args: JsonObject, name: string): string | undefined {
	const value = args[name];
	if (value === undefined || value === null) return;
	if (typeof value !== 'string') throw invalid(`${name} has to be a text.`);
	if (value.trim() === '') throw invalid(`${name} is empty.`);
	return value;
}

function flagOf(args: JsonObject, name: string, fallback: boolean): boolean {
	const {[name]: value = fallback} = args;
	if (typeof value !== 'boolean') throw invalid(`${name} is true or false.`);
	return value;
}

export const invalid = (sentence: string): Refusal => new Refusal('invalid_params', sentence);
