import {MAX_NESTED} from '../codex/repair-text.js';
import {isObject, type JsonObject, without} from '../protocol/json.js';
import {redactText} from '../store/redact.js';
import {isDeeper, wellFormed} from '../well-formed.js';
import {
	checkKnown,
	codexArgumentNames,
	invalid,
	ownArguments,
	replyArguments,
	sandboxes,
	startOnly,
	text,
} from './argument-names.js';

/** What a call of `codex` or `codex-reply` asks for. */
export type CodexCall = StartCall | ResumeCall | ReplyCall;

/** What a call sets of its session. */
export type Settings = {
	readonly identity: string | undefined;
	readonly tag: string | undefined;
	readonly autoMail: boolean | undefined;
	readonly role: string | undefined;
	readonly cwd: string | undefined;
	/** What Codex is to be told as it is. */
	readonly forwarded: JsonObject;
};

/** A new session. */
export type StartCall = Settings & {
	readonly kind: 'start';
	readonly prompt: string | undefined;
	readonly agentFile: string | undefined;
	readonly agentFileAs: 'prompt' | 'base-instructions';
};

/** A session goes on that may be closed, or have been somebody else's. */
export type ResumeCall = Settings & {readonly kind: 'resume'; readonly ref: string; readonly prompt: string};

/** A session goes on. */
export type ReplyCall = {
	readonly kind: 'reply';
	readonly ref: string;
	/** Further ids, which have to name the same session. */
	readonly others: readonly string[];
	readonly prompt: string;
};

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
	checkDepth(args);
	if (tool === 'codex-reply') return readReply(args);
	checkKnown('codex', args, codexArgumentNames);
	return text(args, 'codex_id') === undefined ? readStart(args, agentFileAs) : readResume(args);
}

/** Codex drops a message that is nested too deeply, and the turn would never begin. */
function checkDepth(args: JsonObject): void {
	for (const [name, value] of Object.entries(args))
		if (isDeeper(value, MAX_NESTED))
			throw invalid(
				`${name.slice(0, 100)} is nested deeper than ${MAX_NESTED} levels, which Codex does not accept. Send it with fewer levels.`,
			);
}

function readReply(args: JsonObject): ReplyCall {
	checkKnown('codex-reply', args, replyArguments);
	const [ref, ...others] = ['codex_id', 'threadId', 'conversationId']
		.map(name => text(args, name))
		.filter(id => id !== undefined);
	if (ref === undefined) throw invalid('codex-reply needs the codex_id that codex has answered with.');
	const prompt = text(args, 'prompt');
	if (prompt === undefined) throw invalid('codex-reply needs a prompt.');
	return {kind: 'reply', ref, others, prompt};
}

function readResume(args: JsonObject): ResumeCall {
	if (args.agent_file !== undefined)
		throw invalid('A session that goes on has its agent already: give codex_id or agent_file, not both.');
	const late = startOnly.find(name => args[name] !== undefined && args[name] !== null);
	if (late !== undefined)
		throw invalid(
			`${late} is set when a session starts, and cannot change in one that goes on. Leave it out, or start a new session without codex_id.`,
		);
	return {
		kind: 'resume',
		ref: text(args, 'codex_id') ?? '',
		prompt: text(args, 'prompt') ?? CONTINUE,
		...settingsIn(args),
	};
}

function readStart(args: JsonObject, fallback: StartCall['agentFileAs']): StartCall {
	const [prompt, agentFile] = [text(args, 'prompt'), text(args, 'agent_file')];
	const agentFileAs = agentFileUse(args, fallback);
	if (agentFile === undefined && args.agent_file_as !== undefined && args.agent_file_as !== null)
		throw invalid('agent_file_as needs an agent_file.');
	if (agentFile !== undefined && agentFileAs === 'prompt' && prompt !== undefined)
		throw invalid('agent_file and prompt exclude each other: the text of the file is the prompt.');
	if (prompt === undefined && agentFile !== undefined && agentFileAs === 'base-instructions')
		throw invalid(
			'agent_file becomes the base-instructions, so a new session also needs a prompt. Give a prompt, or agent_file_as prompt.',
		);
	if (prompt === undefined && agentFile === undefined)
		throw invalid('A new session needs a prompt, or an agent_file; to go on with one, give its codex_id.');
	return {kind: 'start', prompt, agentFile, agentFileAs, ...settingsIn(args)};
}

function agentFileUse(args: JsonObject, fallback: StartCall['agentFileAs']): StartCall['agentFileAs'] {
	const use = text(args, 'agent_file_as') ?? fallback;
	if (use === 'prompt' || use === 'base-instructions') return use;
	throw invalid(`agent_file_as is prompt or base-instructions, not ${use.slice(0, 100)}.`);
}

function settingsIn(args: JsonObject): Settings {
	const autoMail = args.auto_mail ?? undefined;
	if (autoMail !== undefined && typeof autoMail !== 'boolean') throw invalid('auto_mail is true or false.');
	const sandbox = text(args, 'sandbox');
	if (sandbox !== undefined && !sandboxes.includes(sandbox))
		throw invalid(`sandbox is ${sandboxes.join(', ')}, not ${sandbox.slice(0, 100)}.`);
	const tag = text(args, 'tag');
	if (tag !== undefined && tag.length > MAX_TAG) throw invalid(`A tag has at most ${MAX_TAG} characters.`);
	return {
		identity: text(args, 'identity'),
		// The registry keeps it.
		tag: tag === undefined ? tag : redactText(wellFormed(tag)),
		autoMail,
		role: text(args, 'role'),
		cwd: text(args, 'cwd'),
		forwarded: forwardedIn(args),
	};
}

function forwardedIn(args: JsonObject): JsonObject {
	const given = Object.entries(without(args, ...ownArguments, 'prompt', 'cwd'));
	const forwarded: JsonObject = Object.fromEntries(given.filter(([, value]) => value !== null));
	for (const name of Object.keys(forwarded)) if (name !== 'config') text(forwarded, name, true);
	const config = configIn(forwarded.config);
	return config === undefined ? without(forwarded, 'config') : {...forwarded, config};
}

/** Models often send an object as JSON in a text. */
function configIn(given: unknown): JsonObject | undefined {
	if (given === undefined || given === null) return;
	const value = typeof given === 'string' ? parsed(given) : given;
	if (!isObject(value))
		throw invalid('config has to be an object of settings, or a text that is one as JSON.');
	checkDepth({config: value});
	return value;
}

function parsed(json: string): unknown {
	try {
		return JSON.parse(json);
	} catch {
		return;
	}
}
