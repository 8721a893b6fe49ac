import {countGarbage} from '../minor-collection.js';
import {parseExact} from '../wire/exact-integers.js';
import {jsonWeight} from '../wire/json-weight.js';
import type {Given} from './arguments.js';
import type {Calls} from './calls.js';
import {ProgramError, RunOver} from './program-error.js';
import type {Ending} from './python/messages.js';
import type {Listener, Session, SessionLimits} from './python/session.js';
import {members} from './schema.js';
import {MAX_CALL_VALUES, MAX_NESTING} from './value-limits.js';

/** A program, and the names of the packs that it may use. */
export type Program = {readonly code: string; readonly packs: readonly string[]};

/** What a program gave, as a reader gets it and as other programs do. */
export type Shown = {readonly text: string; readonly data: unknown};

/** The arguments of a call are in memory about this many times: as text, value, JSON and bytes. */
const COPIES = 4;

type Ways = {resolve(shown: Shown | undefined): void; reject(error: unknown): void};

/**
 * Runs a program in an interpreter and serves its calls. Nothing that comes from there is trusted: what is no message
 * of the prelude's ends the run. Resolves with the value, if there is one.
 */
export function interpret(
	session: Session,
	program: Program,
	calls: Calls,
	signal: AbortSignal,
): Promise<Shown | undefined> {
	return new Promise((resolve, reject) => {
		const stop = (): void => reject(signal.reason);
		signal.addEventListener('abort', stop, {once: true});
		const ways: Ways = {
			resolve: shown => {
				signal.removeEventListener('abort', stop);
				resolve(shown);
			},
			reject: error => {
				signal.removeEventListener('abort', stop);
				reject(error);
			},
		};
		const listener: Listener = {
			line: text => {
				hear(text, session, calls, ways).catch(ways.reject);
			},
			end: (why, detail) => ways.reject(ended(why, detail, session.limits)),
		};
		session.listen(listener, calls.limits.maxCallBytes);
		if (signal.aborted) stop();
		else session.say(JSON.stringify({...program, max_calls: calls.limits.maxCalls}));
	});
}

async function hear(text: string, session: Session, calls: Calls, {resolve, reject}: Ways): Promise<void> {
	countGarbage(COPIES * text.length);
	const {call, batch, done, fail} = messageIn(text);
	if (done !== undefined) resolve(shownBy(done, session.limits));
	else if (fail !== undefined) reject(failureIn(fail));
	else if (call !== undefined || batch !== undefined) session.say(...(await answer(calls, call, batch)));
	else throw garbage();
}

function messageIn(text: string): {readonly [key: string]: unknown} {
	try {
		return members(parseExact(text));
	} catch {
		throw garbage();
	}
}

/** What a call came to, as the program reads it. A run that is over answers nothing. */
async function answer(calls: Calls, call: unknown, batch: unknown): Promise<string[]> {
	const {pack, tool, ...given} = callIn(call ?? batch);
	try {
		const ok = call
			? await calls.callJson({pack, tool, ...given})
			: await calls.batchJson({pack, tool, ...given});
		return ['{"ok":', ok, '}'];
	} catch (error) {
		if (!(error instanceof ProgramError) || error instanceof RunOver) throw error;
		return [JSON.stringify({error: {type: error.type, message: error.message}})];
	}
}

function callIn(call: unknown): {pack: string; tool: string} & Given {
	const [pack, tool, positional, named] = Array.isArray(call) ? call : [];
	const isCall = typeof pack === 'string' && typeof tool === 'string' && Array.isArray(positional);
	if (!isCall || typeof named !== 'object' || named === null) throw garbage();
	return {pack, tool, positional, named: Object.entries(named)};
}

/** The outcome of a program. One over the limit is not parsed: the runner rejects it. */
function shownBy(done: unknown, {maxOutputBytes}: SessionLimits): Shown | undefined {
	const {kind, text} = members(done);
	if (kind === 'none') return;
	if (typeof text !== 'string') throw garbage();
	return {text, data: kind === 'json' && text.length <= maxOutputBytes ? dataIn(text) : text};
}

function dataIn(text: string): unknown {
	if (jsonWeight(Buffer.from(text)).depth > MAX_NESTING)
		throw new ProgramError('ValueError', 'The result is nested too deeply.');
	try {
		return parseExact(text);
	} catch {
		throw garbage();
	}
}

/** An error of the program's. For a name that nobody knows, the packs are for the runner to tell. */
export class UnknownName extends ProgramError {
	readonly unknown: string;

	constructor(unknown: string, message: string, line?: number) {
		super('NameError', message, line);
		this.unknown = unknown;
	}
}

function failureIn(fail: unknown): ProgramError {
	const {type, message, line, name} = members(fail);
	const at = typeof line === 'number' ? line : undefined;
	const text =
		type === 'MemoryError'
			? 'The program needs more memory than it may have, or is nested too deeply.'
			: String(message);
	if (typeof name === 'string') return new UnknownName(name, text, at);
	return new ProgramError(String(type).slice(0, 100), text, at);
}

const garbage = (): ProgramError =>
	new ProgramError('InterpreterError', 'The program wrote to file 2, which only the interpreter may use.');

function ended(why: Ending, detail: string, {maxOutputBytes, maxAttempts}: SessionLimits): ProgramError {
	switch (why) {
		case 'flood':
			return new ProgramError(
				'OutputLimit',
				`The program printed more than ${maxOutputBytes} bytes, or too many control characters. Print less.`,
			);
		case 'line':
			return new ProgramError(
				'OutputLimit',
				`A call or the result of the program has more than ${detail} bytes. Pass less data.`,
			);
		case 'values':
			return new ProgramError(
				'OutputLimit',
				`A call of the program has more than ${MAX_CALL_VALUES} values, or is nested too deeply. Pass less data.`,
			);
		case 'attempts':
			return new ProgramError(
				'CallLimit',
				`The program tried to make more than ${maxAttempts} calls, failed ones included. Make fewer, or use batch().`,
			);
		case 'unread':
			return garbage();
		case 'exit':
			return new ProgramError('SystemExit', `The program ended the interpreter with code ${detail}.`);
		case 'fault':
			return new ProgramError('InterpreterError', `The interpreter stopped: ${detail}`);
	}
}
