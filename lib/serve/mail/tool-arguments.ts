import type {JsonObject} from '../../util/json.js';
import {ToolError} from '../sessions/tool-error.js';
import type {OutgoingMessage} from './outgoing-message.js';

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

/** Parses the arguments of atm_read. Throws a ToolError if they are invalid. */
export function parseReadArguments(args: JsonObject): ReadMailArguments {
	const {limit = DEFAULT_LIMIT} = args;
	if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
		throw invalidMailParams(`limit must be an integer from 1 to ${MAX_LIMIT}.`);
	const sinceText = mailTextArgument(args, 'since');
	const since = sinceText === undefined ? undefined : Date.parse(sinceText);
	if (Number.isNaN(since))
		throw invalidMailParams('since must be a time in ISO 8601 format, such as 2026-02-18T10:00:00Z.');
	return {
		isAll: flagArgument(args, 'all', false),
		marksAsRead: flagArgument(args, 'mark_read', true),
		limit,
		since,
		from: mailTextArgument(args, 'from'),
	};
}

/** Parses the message arguments of atm_send and atm_broadcast. */
export function parseOutgoingMessage(args: JsonObject): OutgoingMessage {
	const text = mailTextArgument(args, 'message');
	if (text === undefined) throw invalidMailParams('message is required.');
	const {priority = 'normal'} = args;
	if (priority !== 'normal' && priority !== 'urgent')
		throw invalidMailParams('priority must be normal or urgent.');
	return {text, summary: mailTextArgument(args, 'summary'), isUrgent: priority === 'urgent'};
}

/** Returns an optional argument that must be a string and not blank. */
export function mailTextArgument(args: JsonObject, name: string): string | undefined {
	const value = args[name];
	if (value === undefined || value === null) return;
	if (typeof value !== 'string') throw invalidMailParams(`${name} must be a string.`);
	if (value.trim() === '') throw invalidMailParams(`${name} must not be empty.`);
	return value;
}

function flagArgument(args: JsonObject, name: string, fallback: boolean): boolean {
	const {[name]: value = fallback} = args;
	if (typeof value !== 'boolean') throw invalidMailParams(`${name} must be true or false.`);
	return value;
}

export const invalidMailParams = (message: string): ToolError => new ToolError('invalid_params', message);
