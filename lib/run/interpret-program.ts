import {countGarbage} from '../core/fast/minor-collection.js';
import {parseWithBigInts} from '../wire/bigint-json.js';
import {jsonComplexity} from '../wire/json-complexity.js';
import type {CallArguments} from './call-arguments.js';
import {asObject} from './input-schema.js';
import {ProgramError, RunEndedError} from './program-error.js';
import type {InterpreterLimits, ProgramListener, PythonInterpreter} from './python/interpreter.js';
import type {ProgramEndReason} from './python/messages.js';
import type {RunCalls} from './run-calls.js';
import {MAX_CALL_VALUES, MAX_NESTING} from './value-limits.js';

/** A program, and the names of the packs that it can use. */
type Program = {readonly code: string; readonly packs: readonly string[]};

/** The value of a program as text for people and as data for clients. */
export type RenderedValue = {readonly text: string; readonly data: unknown};

/** Estimated copies of the arguments of a call in memory: text, value, JSON and bytes. */
const MEMORY_COPIES = 4;

type PromiseCallbacks = {resolve(value: RenderedValue | undefined): void; reject(error: unknown): void};

/**
 * Runs a program in an interpreter and executes its calls. Resolves with the value of the program, if it has
 * one. Messages from the interpreter are untrusted: an invalid one ends the run.
 */
export function interpretProgram(
	interpreter: PythonInterpreter,
	program: Program,
	calls: RunCalls,
	signal: AbortSignal,
): Promise<RenderedValue | undefined> {
	return new Promise((resolve, reject) => {
		const onAbort = (): void => reject(signal.reason);
		signal.addEventListener('abort', onAbort, {once: true});
		const callbacks: PromiseCallbacks = {
			resolve: value => {
				signal.removeEventListener('abort', onAbort);
				resolve(value);
			},
			reject: error => {
				signal.removeEventListener('abort', onAbort);
				reject(error);
			},
		};
		const listener: ProgramListener = {
			onLine: text => {
				receiveMessage(text, interpreter, calls, callbacks).catch(callbacks.reject);
			},
			onEnd: (reason, detail) => callbacks.reject(endError(reason, detail, interpreter.limits)),
		};
		interpreter.listen(listener, calls.limits.maxCallBytes);
		if (signal.aborted) onAbort();
		else interpreter.send(JSON.stringify({...program, max_calls: calls.limits.maxCalls}));
	});
}

async function receiveMessage(
	text: string,
	interpreter: PythonInterpreter,
	calls: RunCalls,
	{resolve, reject}: PromiseCallbacks,
): Promise<void> {
	countGarbage(MEMORY_COPIES * text.length);
	const {call, batch, done, fail} = parseMessage(text);
	if (done !== undefined) resolve(parseValue(done, interpreter.limits));
	else if (fail !== undefined) reject(parseFailure(fail));
	else if (call !== undefined || batch !== undefined)
		interpreter.send(...(await respondToCall(calls, call, batch)));
	else throw invalidMessage();
}

function parseMessage(text: string): {readonly [key: string]: unknown} {
	try {
		return asObject(parseWithBigInts(text));
	} catch {
		throw invalidMessage();
	}
}

/** Executes a call and returns the reply for the program. A run that has ended sends no reply. */
async function respondToCall(calls: RunCalls, call: unknown, batch: unknown): Promise<string[]> {
	const {pack, tool, ...callArguments} = parseCall(call ?? batch);
	try {
		const ok = call
			? await calls.callJson({pack, tool, ...callArguments})
			: await calls.batchJson({pack, tool, ...callArguments});
		return ['{"ok":', ok, '}'];
	} catch (error) {
		if (!(error instanceof ProgramError) || error instanceof RunEndedError) throw error;
		return [JSON.stringify({error: {type: error.type, message: error.message}})];
	}
}

function parseCall(call: unknown): {pack: string; tool: string} & CallArguments {
	const [pack, tool, positional, named] = Array.isArray(call) ? call : [];
	const isCall = typeof pack === 'string' && typeof tool === 'string' && Array.isArray(positional);
	if (!isCall || typeof named !== 'object' || named === null) throw invalidMessage();
	return {pack, tool, positional, named: Object.entries(named)};
}

/** Parses the value of a program. A value over the limit is not parsed, since the runner rejects it. */
function parseValue(done: unknown, {maxOutputBytes}: InterpreterLimits): RenderedValue | undefined {
	const {kind, text} = asObject(done);
	if (kind === 'none') return;
	if (typeof text !== 'string') throw invalidMessage();
	return {text, data: kind === 'json' && text.length <= maxOutputBytes ? parseData(text) : text};
}

function parseData(text: string): unknown {
	if (jsonComplexity(Buffer.from(text)).depth > MAX_NESTING)
		throw new ProgramError('ValueError', 'The result is nested too deeply.');
	try {
		return parseWithBigInts(text);
	} catch {
		throw invalidMessage();
	}
}

/** A name error in the program. The runner adds the list of packs to its message. */
export class UnknownNameError extends ProgramError {
	readonly unknownName: string;

	constructor(unknownName: string, message: string, line?: number) {
		super('NameError', message, line);
		this.unknownName = unknownName;
	}
}

function parseFailure(fail: unknown): ProgramError {
	const {type, message, line, name} = asObject(fail);
	const at = typeof line === 'number' ? line : undefined;
	const text =
		type === 'MemoryError'
			? 'The program exceeds the memory limit or is nested too deeply.'
			: String(message);
	if (typeof name === 'string') return new UnknownNameError(name, text, at);
	return new ProgramError(String(type).slice(0, 100), text, at);
}

const invalidMessage = (): ProgramError =>
	new ProgramError('InterpreterError', 'The program wrote to file 2, which only the interpreter may use.');

function endError(
	reason: ProgramEndReason,
	detail: string,
	{maxOutputBytes, maxAttempts}: InterpreterLimits,
): ProgramError {
	switch (reason) {
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
			return invalidMessage();
		case 'exit':
			return new ProgramError('SystemExit', `The program ended the interpreter with code ${detail}.`);
		case 'fault':
			return new ProgramError('InterpreterError', `The interpreter stopped: ${detail}`);
	}
}
