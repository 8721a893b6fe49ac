import {isObject, type JsonObject, without} from '../protocol/json.js';
import {redactText} from '../store/redact.js';
import {Refusal} from './refusal.js';

/** What a call of `codex` or `codex-reply` asks for. */
export type CodexCall = StartCall | ResumeCall | ReplyCall;

/** A new session. */
export type StartCall = Labels & {
	readonly kind: 'start';
	readonly prompt: string | undefined;
	readonly agentFile: string | undefined;
	readonly agentFileAs: 'prompt' | 'base-instructions';
	readonly role: string | undefined;
	readonly cwd: string | undefined;
	/** What Codex is to be told as it is. */
	readonly forwarded: JsonObject;
};

/** A session goes on that may be closed, or have been somebody else's. */
export type ResumeCall = Labels & {readonly kind: 'resume'; readonly ref: string; readonly prompt: string};

/** A session goes on. */
export type ReplyCall = {readonly kind: 'reply'; readonly ref: string; readonly prompt: string};

type Labels = {
	readonly identity: string | undefined;
	readonly tag: string | undefined;
	readonly autoMail: boolean | undefined;
};

/** Arguments that are none of Codex's: it would refuse a call that has one. */
const ownArguments = [
	'identity',
	'role',
	'tag',
	'agent_file',
	'agent_file_as',
	'codex_id',
	'auto_mail',
] as const;

/** What `codex` with a codex_id and no prompt is taken for. */
const CONTINUE = 'Continue.';

const MAX_TAG = 200;

/** Understands a call of one of Codex's tools, or refuses it. */
export function readCall(
	tool: 'codex' | 'codex-reply',
	given: unknown,
	agentFileAs: StartCall['agentFileAs'] = 'prompt',
): CodexCall {
	if (given !== undefined && !isObject(given)) throw invalid('The arguments have to be an object.');
	const args = given ?? {};
	if (tool === 'codex-reply') return readReply(args);
	return text(args, 'codex_id') === undefined ? readStart(args, agentFileAs) : readResume(args);
}

function readReply(args: JsonObject): ReplyCall {
	const ref = text(args, 'codex_id') ?? text(args, 'threadId') ?? text(args, 'conversationId');
	if (ref === undefined) throw invalid('codex-reply needs the codex_id that codex has answered with.');
	const prompt = text(args, 'prompt', true);
	if (prompt === undefined) throw invalid('codex-reply needs a prompt.');
	return {kind: 'reply', ref, prompt};
}

function readResume(args: JsonObject): ResumeCall {
	if (args.agent_file !== undefined)
		throw invalid('A session that goes on has its agent already: give codex_id or agent_file, not both.');
	const ref = text(args, 'codex_id') ?? '';
	return {kind: 'resume', ref, prompt: text(args, 'prompt', true) ?? CONTINUE, ...labels(args)};
}

function readStart(args: JsonObject, fallback: StartCall['agentFileAs']): StartCall {
	const [prompt, agentFile] = [text(args, 'prompt', true), text(args, 'agent_file')];
	const agentFileAs = agentFileUse(args, fallback);
	if (agentFile !== undefined && agentFileAs === 'prompt' && prompt !== undefined)
		throw invalid('agent_file and prompt exclude each other: the text of the file is the prompt.');
	if (prompt === undefined && (agentFile === undefined || agentFileAs === 'base-instructions'))
		throw invalid('A new session needs a prompt, or an agent_file; to go on with one, give its codex_id.');
	const forwarded = without(args, ...ownArguments, 'prompt', 'cwd');
	for (const name of ['model', 'sandbox', 'approval-policy', 'base-instructions', 'developer-instructions'])
		text(forwarded, name, true);
	const [role, cwd] = [text(args, 'role'), text(args, 'cwd')];
	return {kind: 'start', prompt, agentFile, agentFileAs, role, cwd, forwarded, ...labels(args)};
}

function agentFileUse(args: JsonObject, fallback: StartCall['agentFileAs']): StartCall['agentFileAs'] {
	const use = text(args, 'agent_file_as') ?? fallback;
	if (use === 'prompt' || use === 'base-instructions') return use;
	throw invalid(`agent_file_as is prompt or base-instructions, not ${use.slice(0, 100)}.`);
}

function labels(args: JsonObject): Labels {
	const autoMail = args.auto_mail;
	if (autoMail !== undefined && typeof autoMail !== 'boolean') throw invalid('auto_mail is true or false.');
	const tag = text(args, 'tag');
	if (tag !== undefined && tag.length > MAX_TAG) throw invalid(`A tag has at most ${MAX_TAG} characters.`);
	// The registry keeps it.
	return {identity: text(args, 'identity'), tag: tag === undefined ? tag : redactText(tag), autoMail};
}

/** An argument that is a text, and not an empty one unless it may be. */
function text(args: JsonObject, name: string, mayBeEmpty = false): string | undefined {
	const value = args[name];
	if (value === undefined || value === null) return;
	if (typeof value !== 'string') throw invalid(`${name} has to be a text.`);
	if (value.includes('\0')) throw invalid(`${name} must not hold NUL characters.`);
	if (value.trim() === '' && !mayBeEmpty) throw invalid(`${name} is empty: leave it out or give a value.`);
	return value;
}

const invalid = (sentence: string): Refusal => new Refusal('invalid_params', sentence);
