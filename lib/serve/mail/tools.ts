import {BridgeError} from '../../core/errors.js';
import type {JsonObject} from '../../util/json.js';
import type {AuditLog} from '../sessions/audit-log.js';
import type {BridgeTool, BridgeToolContext} from '../sessions/bridge-tools.js';
import {ToolError, type ToolErrorKind} from '../sessions/tool-error.js';
import type {Mail} from './mail.js';
import {
	invalidMailParams,
	mailTextArgument,
	parseOutgoingMessage,
	parseReadArguments,
	type ReadMailArguments,
} from './tool-arguments.js';
import type {MailMessage} from './types.js';

/** The verified caller. A call reads only the mail of this identity and sends only in its name. */
export type MailCaller = {
	readonly identity: string;
	readonly codexId?: string | undefined;
	readonly threadId?: string | undefined;
};

export type MailToolsOptions = {
	readonly mail: Mail;
	readonly auditLog: AuditLog;
	/** Determines the caller. Throws a ToolError if the call is not allowed. */
	readonly resolveCaller: (
		tool: string,
		args: JsonObject,
		meta: JsonObject,
	) => MailCaller | Promise<MailCaller>;
};

/** Limit on the text of a result. A single message may exceed it. */
const MAX_RESULT_CHARACTERS = 2 ** 20;

type MailTool = (caller: MailCaller, args: JsonObject, context: BridgeToolContext) => Promise<JsonObject>;

/** The mail tools. Each call is recorded in the audit log before its response. */
export function createMailTools({
	mail,
	auditLog,
	resolveCaller,
}: MailToolsOptions): ReadonlyMap<string, BridgeTool> {
	const tools: ReadonlyArray<readonly [string, MailTool]> = [
		['atm_send', (caller, args) => send(mail, caller, args)],
		['atm_read', (...parameters) => read(mail, ...parameters)],
		['atm_broadcast', (caller, args) => broadcast(mail, caller, args)],
		['atm_pending_count', caller => countUnread(mail, caller)],
	];
	const entries = tools.map(([name, tool]): [string, BridgeTool] => [
		name,
		async (args, context) => {
			let caller: MailCaller | undefined;
			try {
				caller = await resolveCaller(name, args, context.meta);
				const result = await tool(caller, args, context);
				auditLog.mailToolCalled(name, caller, args, result);
				return result;
			} catch (error) {
				const toolError = asMailToolError(error);
				throw caller && toolError instanceof ToolError ? toolError.setActor(caller) : toolError;
			}
		},
	]);
	return new Map(entries);
}

async function send(mail: Mail, {identity}: MailCaller, args: JsonObject): Promise<JsonObject> {
	const to = mailTextArgument(args, 'to');
	if (to === undefined) throw invalidMailParams('to is required.');
	const sent = await mail.send(identity, to, parseOutgoingMessage(args));
	return {from: identity, to: sent.to, message_id: sent.id, sent: `Message sent to ${sent.to}`};
}

async function broadcast(mail: Mail, {identity}: MailCaller, args: JsonObject): Promise<JsonObject> {
	const {team, sent, failed} = await mail.broadcast(
		identity,
		parseOutgoingMessage(args),
		mailTextArgument(args, 'team'),
	);
	const reasons = failed.map(({to, reason}) => `${to}: ${reason}`);
	if (sent.length === 0)
		throw new ToolError(
			'internal',
			`The message could not be delivered to any member of the team ${team}. ${reasons.join(' ')}`,
			{
				failed,
			},
		);
	return {from: identity, team, sent: sent.map(({to}) => to), failed};
}

async function countUnread(mail: Mail, {identity}: MailCaller): Promise<JsonObject> {
	const inbox = mail.inbox(identity);
	await inbox.settled();
	return {identity, unread: (await inbox.unread()).length};
}

async function read(
	mail: Mail,
	{identity}: MailCaller,
	args: JsonObject,
	{afterResponse}: BridgeToolContext,
): Promise<JsonObject> {
	const options = parseReadArguments(args);
	const inbox = mail.inbox(identity);
	// Messages of an earlier call may not be marked as read yet.
	await inbox.settled();
	const {messages, skipped} = await inbox.read();
	const selected = selectMessages(messages, options);
	const newlyRead = selected.filter(({isRead}) => !isRead);
	if (options.marksAsRead && newlyRead.length > 0)
		afterResponse(() => inbox.markRead(newlyRead.map(({id}) => id)));
	const unread = messages.filter(({isRead}) => !isRead).length;
	return {
		identity,
		messages: selected.map(messageToResult),
		unread_left: unread - newlyRead.length,
		...(skipped > 0 ? {skipped} : {}),
	};
}

/** Selects the oldest unread messages, so that none is skipped, or the latest of all messages. */
function selectMessages(
	messages: readonly MailMessage[],
	{isAll, limit, since, from}: ReadMailArguments,
): MailMessage[] {
	const matching = messages.filter(
		message =>
			(isAll || !message.isRead) &&
			(from === undefined || message.from === from) &&
			(since === undefined || message.at >= since),
	);
	const limited = isAll ? matching.slice(-limit) : matching.slice(0, limit);
	let [remaining, count] = [MAX_RESULT_CHARACTERS, 0];
	for (const {text} of limited) {
		remaining -= text.length;
		if (count > 0 && remaining < 0) break;
		count++;
	}
	return limited.slice(0, count);
}

/** Converts a message to a result, without truncation or escapes: it is data here, not part of a prompt. */
const messageToResult = ({
	from,
	text,
	timestamp,
	id,
	isRead,
	summary,
	sourceTeam,
	isUrgent,
}: MailMessage): JsonObject => ({
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

/**
 * Converts expected errors to tool errors. Errors of the file system are expected and are reported with their
 * message.
 */
function asMailToolError(error: unknown): unknown {
	if (error instanceof BridgeError)
		return new ToolError(toolErrorKinds[error.code] ?? 'invalid_params', error.sentence, error.details);
	const {code, syscall} = error as NodeJS.ErrnoException;
	if (code === undefined || syscall === undefined) return error;
	return new ToolError('internal', `The inbox cannot be used: ${(error as Error).message}.`, {errno: code});
}

const toolErrorKinds: {readonly [code: string]: ToolErrorKind} = {
	ERR_SESSION_BUSY: 'overloaded',
	ERR_MAIL_UNREADABLE: 'internal',
};
