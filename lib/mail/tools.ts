import {BridgeError} from '../errors.js';
import type {JsonObject} from '../protocol/json.js';
import type {Journal} from '../sessions/journal.js';
import type {CallContext, OwnTool} from '../sessions/own-tool.js';
import {Refusal, type RefusalKind} from '../sessions/refusal.js';
import {invalid, letterOf, type ReadCall, readCall, textOf} from './arguments.js';
import type {Mail} from './mail.js';
import type {Message} from './types.js';

/** Who calls: only this identity's mail is read, and all that is sent is from it. */
export type Caller = {
	readonly identity: string;
	readonly codexId?: string | undefined;
	readonly threadId?: string | undefined;
};

export type MailToolsOptions = {
	readonly mail: Mail;
	readonly journal: Journal;
	/** Finds out who calls, or refuses. */
	readonly callerOf: (tool: string, args: JsonObject, meta: JsonObject) => Caller | Promise<Caller>;
};

/** A result holds no more text than this, but for one message that is longer. */
const MAX_CHARACTERS = 2 ** 20;

type MailTool = (caller: Caller, args: JsonObject, context: CallContext) => Promise<JsonObject>;

/** The tools for mail. Each call is written down before it is answered. */
export function mailTools({mail, journal, callerOf}: MailToolsOptions): ReadonlyMap<string, OwnTool> {
	const tools: ReadonlyArray<readonly [string, MailTool]> = [
		['atm_send', (caller, args) => send(mail, caller, args)],
		['atm_read', (...given) => read(mail, ...given)],
		['atm_broadcast', (caller, args) => broadcast(mail, caller, args)],
		['atm_pending_count', caller => count(mail, caller)],
	];
	const entries = tools.map(([name, tool]): [string, OwnTool] => [
		name,
		async (args, context) => {
			let caller: Caller | undefined;
			try {
				caller = await callerOf(name, args, context.meta);
				const result = await tool(caller, args, context);
				journal.mailed(name, caller, args, result);
				return result;
			} catch (error) {
				const refusal = asMailRefusal(error);
				throw caller && refusal instanceof Refusal ? refusal.by(caller) : refusal;
			}
		},
	]);
	return new Map(entries);
}

async function send(mail: Mail, {identity}: Caller, args: JsonObject): Promise<JsonObject> {
	const to = textOf(args, 'to');
	if (to === undefined) throw invalid('There has to be somebody that it is to.');
	const sent = await mail.send(identity, to, letterOf(args));
	return {from: identity, to: sent.to, message_id: sent.id, sent: `Message sent to ${sent.to}`};
}

async function broadcast(mail: Mail, {identity}: Caller, args: JsonObject): Promise<JsonObject> {
	const {team, sent, failed} = await mail.broadcast(identity, letterOf(args), textOf(args, 'team'));
	const reasons = failed.map(({to, reason}) => `${to}: ${reason}`);
	if (sent.length === 0)
		throw new Refusal('internal', `Nobody of the team ${team} could be reached. ${reasons.join(' ')}`, {
			failed,
		});
	return {from: identity, team, sent: sent.map(({to}) => to), failed};
}

async function count(mail: Mail, {identity}: Caller): Promise<JsonObject> {
	const inbox = mail.inbox(identity);
	await inbox.settled();
	return {identity, unread: (await inbox.unread()).length};
}

async function read(
	mail: Mail,
	{identity}: Caller,
	args: JsonObject,
	{afterAnswer}: CallContext,
): Promise<JsonObject> {
	const call = readCall(args);
	const inbox = mail.inbox(identity);
	// What was read just now may not be marked yet.
	await inbox.settled();
	const {messages, skipped} = await inbox.read();
	const chosen = chosenOf(messages, call);
	const news = chosen.filter(({isRead}) => !isRead);
	if (call.marks && news.length > 0) afterAnswer(() => inbox.mark(news.map(({id}) => id)));
	const unread = messages.filter(({isRead}) => !isRead).length;
	return {
		identity,
		messages: chosen.map(shown),
		unread_left: unread - news.length,
		...(skipped > 0 ? {skipped} : {}),
	};
}

/** Of unread mail the oldest first, so that nothing is passed over; of all mail the latest. */
function chosenOf(messages: readonly Message[], {isAll, limit, since, from}: ReadCall): Message[] {
	const wanted = messages.filter(
		message =>
			(isAll || !message.isRead) &&
			(from === undefined || message.from === from) &&
			(since === undefined || message.at >= since),
	);
	const some = isAll ? wanted.slice(-limit) : wanted.slice(0, limit);
	let [room, count] = [MAX_CHARACTERS, 0];
	for (const {text} of some) {
		room -= text.length;
		if (count > 0 && room < 0) break;
		count++;
	}
	return some.slice(0, count);
}

/** Whole, whatever is in it: it is data of a result, not a prompt. */
const shown = ({from, text, timestamp, id, isRead, summary, sourceTeam, isUrgent}: Message): JsonObject => ({
	from,
	message: text,
	text,
	timestamp,
	message_id: id,
	read: isRead,
	...(summary === undefined ? {} : {summary}),
	...(sourceTeam === undefined ? {} : {source_team: sourceTeam}),
	...(isUrgent ? {priority: 'urgent'} : {}),
});

/** What can go wrong with files is no bug, and is told as it is. */
function asMailRefusal(error: unknown): unknown {
	if (error instanceof BridgeError)
		return new Refusal(kinds[error.code] ?? 'invalid_params', error.sentence, error.details);
	const {code, syscall} = error as NodeJS.ErrnoException;
	if (code === undefined || syscall === undefined) return error;
	return new Refusal('internal', `The inbox cannot be used: ${(error as Error).message}.`, {errno: code});
}

const kinds: {readonly [code: string]: RefusalKind} = {
	ERR_SESSION_BUSY: 'overloaded',
	ERR_MAIL_UNREADABLE: 'internal',
};
