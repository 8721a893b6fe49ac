import type {JsonObject} from '../../util/json.js';
import {ToolError} from '../sessions/tool-error.js';
import type {OutgoingMessage} from './outgoing-message.js';

/** What a call of atm_read asks for. */
export type ReadMailArguments = {
	readonly isAll: boolean;
	readonly marksAsRead: boolean;
	readonly limit: number;
	/** In ms since the epoch. */
	readonly since: number | undefined;
	readonly from: string | undefined;
};

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 100;

/** Understands the arguments of atm_read, or refuses them. */
export function parseReadArguments(args: JsonObject): ReadMailArguments {
	const {limit = DEFAULT_LIMIT} = args;
	if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
		throw invalidMailParams(`limit is a whole number from 1 to ${MAX_LIMIT}.`);
	const sinceText = mailTextArgument(args, 'since');
	const since = sinceText === undefined ? undefined : Date.parse(sinceText);
	if (Number.isNaN(since)) throw invalidMailParams('since is a time in ISO 8601, like 2026-02-18T10:00:00Z.');
	return {
		isAll: flagArgument(args, 'all', false),
		marksAsRead: flagArgument(args, 'mark_read', true),
		limit,
		since,
		from: mailTextArgument(args, 'from'),
	};
}

/** What atm_send and atm_broadcast are to say. */
export function parseOutgoingMessage(args: JsonObject): OutgoingMessage {
	const text = mailTextArgument(args, 'message');
	if (text === undefined) throw invalidMailParams('There has to be a message.');
	const {priority = 'normal'} = args;
	if (priority !== 'normal' && priority !== 'urgent')
		throw invalidMailParams('priority is normal or urgent.');
	return {text, summary: mailTextArgument(args, 'summary'), isUrgent: priority === 'urgent'};
}

/** An argument that is a text, and not an empty one. */
export function mailTextArgument(args: JsonObject, name: string): string | undefined {
	const value = args[name];
	if (value === undefined || value === null) return;
	if (typeof value !== 'string') throw invalidMailParams(`${name} has to be a text.`);
	if (value.trim() === '') throw invalidMailParams(`${name} is empty.`);
	return value;
}

function flagArgument(args: JsonObject, name: string, fallback: boolean): boolean {
	const {[name]: value = fallback} = args;
	if (typeof value !== 'boolean') throw invalidMailParams(`${name} is true or false.`);
	return value;
}

export const invalidMailParams = (message: string): ToolError => new ToolError('invalid_params', message);
