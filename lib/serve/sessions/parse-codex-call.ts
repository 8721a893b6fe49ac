import {redactText} from '../../core/redact.js';
import {isObject, type JsonObject, without} from '../../util/json.js';
import {isDeeperThan, wellFormed} from '../../util/well-formed.js';
import {MAX_CODEX_NESTING} from '../codex/repair-text.js';
import {
	assertKnownArguments,
	bridgeArgumentNames,
	codexArgumentNames,
	invalidParams,
	replyArgumentNames,
	sandboxModes,
	startOnlyArgumentNames,
	textArgument,
} from './tool-arguments.js';

export type CodexCall = StartCall | ResumeCall | ReplyCall;

export type CallSettings = {
	readonly identity: string | undefined;
	readonly tag: string | undefined;
	readonly autoMail: boolean | undefined;
	readonly role: string | undefined;
	readonly cwd: string | undefined;
	/** Arguments that are forwarded to Codex unchanged. */
	readonly forwarded: JsonObject;
};

export type StartCall = CallSettings & {
	readonly kind: 'start';
	readonly prompt: string | undefined;
	readonly agentFile: string | undefined;
	readonly agentFileAs: 'prompt' | 'base-instructions';
};

/** Resumes a session that may be closed or come from an earlier run. */
export type ResumeCall = CallSettings & {
	readonly kind: 'resume';
	readonly ref: string;
	readonly prompt: string;
};

export type ReplyCall = {
	readonly kind: 'reply';
	readonly ref: string;
	/** Further ids. They must identify the same session. */
	readonly otherRefs: readonly string[];
	readonly prompt: string;
};

/** The prompt of `codex` with a codex_id and no prompt. */
const CONTINUE_PROMPT = 'Continue.';

const MAX_TAG = 200;

export function parseCodexCall(
	tool: 'codex' | 'codex-reply',
	input: unknown,
	agentFileAs: StartCall['agentFileAs'] = 'prompt',
): CodexCall {
	if (input !== undefined && !isObject(input)) throw invalidParams('The arguments must be an object.');
	const args = input ?? {};
	assertNestingDepth(args);
	if (tool === 'codex-reply') return parseReplyCall(args);
	assertKnownArguments('codex', args, codexArgumentNames);
	return textArgument(args, 'codex_id') === undefined
		? parseStartCall(args, agentFileAs)
		: parseResumeCall(args);
}

/** Codex drops messages that are nested too deeply, so the turn would never start. */
function assertNestingDepth(args: JsonObject): void {
	for (const [name, value] of Object.entries(args))
		if (isDeeperThan(value, MAX_CODEX_NESTING))
			throw invalidParams(
				`${name.slice(0, 100)} is nested deeper than ${MAX_CODEX_NESTING} levels, which Codex does not accept. Send it with fewer levels.`,
			);
}

function parseReplyCall(args: JsonObject): ReplyCall {
	assertKnownArguments('codex-reply', args, replyArgumentNames);
	const [ref, ...otherRefs] = ['codex_id', 'threadId', 'conversationId']
		.map(name => textArgument(args, name))
		.filter(id => id !== undefined);
	if (ref === undefined) throw invalidParams('codex-reply requires the codex_id that codex returned.');
	const prompt = textArgument(args, 'prompt');
	if (prompt === undefined) throw invalidParams('codex-reply requires a prompt.');
	return {kind: 'reply', ref, otherRefs, prompt};
}

function parseResumeCall(args: JsonObject): ResumeCall {
	if (args.agent_file !== undefined)
		throw invalidParams(
			'agent_file cannot be combined with codex_id: an existing session already has its agent. Pass one of the two.',
		);
	const startOnlyName = startOnlyArgumentNames.find(name => args[name] !== undefined && args[name] !== null);
	if (startOnlyName !== undefined)
		throw invalidParams(
			`${startOnlyName} is set when a session starts and cannot be changed later. Omit it, or start a new session without codex_id.`,
		);
	return {
		kind: 'resume',
		ref: textArgument(args, 'codex_id') ?? '',
		prompt: textArgument(args, 'prompt') ?? CONTINUE_PROMPT,
		...parseSettings(args),
	};
}

function parseStartCall(args: JsonObject, fallback: StartCall['agentFileAs']): StartCall {
	const [prompt, agentFile] = [textArgument(args, 'prompt'), textArgument(args, 'agent_file')];
	const agentFileAs = parseAgentFileAs(args, fallback);
	if (agentFile === undefined && args.agent_file_as !== undefined && args.agent_file_as !== null)
		throw invalidParams('agent_file_as requires agent_file.');
	if (agentFile !== undefined && agentFileAs === 'prompt' && prompt !== undefined)
		throw invalidParams(
			'agent_file and prompt are mutually exclusive: the text of the file becomes the prompt.',
		);
	if (prompt === undefined && agentFile !== undefined && agentFileAs === 'base-instructions')
		throw invalidParams(
			'agent_file becomes the base-instructions, so a new session also needs a prompt. Pass a prompt, or set agent_file_as to prompt.',
		);
	if (prompt === undefined && agentFile === undefined)
		throw invalidParams(
			'A new session requires prompt or agent_file. To continue an existing session, pass its codex_id.',
		);
	return {kind: 'start', prompt, agentFile, agentFileAs, ...parseSettings(args)};
}

function parseAgentFileAs(args: JsonObject, fallback: StartCall['agentFileAs']): StartCall['agentFileAs'] {
	const value = textArgument(args, 'agent_file_as') ?? fallback;
	if (value === 'prompt' || value === 'base-instructions') return value;
	throw invalidParams(`agent_file_as must be prompt or base-instructions, not ${value.slice(0, 100)}.`);
}

function parseSettings(args: JsonObject): CallSettings {
	const autoMail = args.auto_mail ?? undefined;
	if (autoMail !== undefined && typeof autoMail !== 'boolean')
		throw invalidParams('auto_mail must be true or false.');
	const sandbox = textArgument(args, 'sandbox');
	if (sandbox !== undefined && !sandboxModes.includes(sandbox))
		throw invalidParams(`sandbox must be one of ${sandboxModes.join(', ')}, not ${sandbox.slice(0, 100)}.`);
	const tag = textArgument(args, 'tag');
	if (tag !== undefined && tag.length > MAX_TAG)
		throw invalidParams(`tag must not be longer than ${MAX_TAG} characters.`);
	return {
		identity: textArgument(args, 'identity'),
		// Redacted because the registry stores it.
		tag: tag === undefined ? tag : redactText(wellFormed(tag)),
		autoMail,
		role: textArgument(args, 'role'),
		cwd: textArgument(args, 'cwd'),
		forwarded: parseForwarded(args),
	};
}

function parseForwarded(args: JsonObject): JsonObject {
	const entries = Object.entries(without(args, ...bridgeArgumentNames, 'prompt', 'cwd'));
	const forwarded: JsonObject = Object.fromEntries(entries.filter(([, value]) => value !== null));
	for (const name of Object.keys(forwarded)) if (name !== 'config') textArgument(forwarded, name, true);
	const config = parseConfig(forwarded.config);
	return config === undefined ? without(forwarded, 'config') : {...forwarded, config};
}

/** Accepts an object or, since models often send that, a string with its JSON. */
function parseConfig(input: unknown): JsonObject | undefined {
	if (input === undefined || input === null) return;
	const value = typeof input === 'string' ? tryParseJson(input) : input;
	if (!isObject(value))
		throw invalidParams('config must be an object of settings, or a string that contains one as JSON.');
	assertNestingDepth({config: value});
	return value;
}

function tryParseJson(json: string): unknown {
	try {
		return JSON.parse(json);
	} catch {
		return;
	}
}
