import {setMaxListeners} from 'node:events';
import {availableParallelism} from 'node:os';
import {Calls, seconds} from './calls.js';
import {Gate} from './gate.js';
import {interpret, type Shown, UnknownName} from './interpreter.js';
import {minusHint} from './minus.js';
import {namedPacks} from './named-packs.js';
import type {Packs} from './packs.js';
import {type PlainProgram, plainProgram} from './plain-calls.js';
import {messageOf, ProgramError, RunOver} from './program-error.js';
import {installPython} from './python/files.js';
import {Pool} from './python/pool.js';
import {failed, succeeded} from './result.js';
import {sourceIn} from './source.js';
import type {RunCallOptions, Runner, RunnerOptions, RunResult} from './types.js';
import {rendered} from './values.js';

const MIB = 1024 * 1024;
const MAX_PROGRAM_LENGTH = MIB;
/** Programs that need no interpreter cost little: what they wait for is elsewhere. */
const MAX_PLAIN = 64;
const LEAST_CONCURRENT = 4;

type Limits = Required<Omit<RunnerOptions, 'packs' | 'servers' | 'log'>>;

/** Runs programs in the notation of Python, with packs as the world that they act on. */
export function createRunner(options: RunnerOptions): Runner {
	return new ProgramRunner(options);
}

/** A run, from its beginning to its end. */
type Run = {
	readonly code: string;
	readonly packs: Packs;
	readonly calls: Calls;
	readonly signal: AbortSignal;
	/** What it has printed, as far as that is known. */
	stdout: () => string;
};

class ProgramRunner implements Runner {
	readonly #options: RunnerOptions;
	readonly #limits: Limits;
	readonly #pool: Pool;
	readonly #gate: Gate;
	readonly #plainGate: Gate;
	readonly #closing = new AbortController();
	readonly #underWay = new Set<Promise<unknown>>();

	constructor(options: RunnerOptions) {
		this.#options = options;
		// One listener for each run that is under way, and these are bounded.
		setMaxListeners(0, this.#closing.signal);
		this.#limits = limitsOf(options);
		const {maxOutputBytes, maxCallBytes, maxMemoryBytes, idleMs, maxConcurrent, maxWaiting} = this.#limits;
		// Characters may be six times as long in JSON as they are.
		const maxLineBytes = Math.max(maxCallBytes, 6 * maxOutputBytes);
		this.#pool = new Pool({maxOutputBytes, maxLineBytes, maxMemoryBytes, idleMs});
		this.#gate = new Gate(maxConcurrent, maxWaiting);
		this.#plainGate = new Gate(MAX_PLAIN, maxWaiting);
	}

	async run(command: string, options: RunCallOptions = {}): Promise<RunResult> {
		const {signal, timeoutMs} = options;
		const limitMs = Math.min(timeoutMs ?? Number.POSITIVE_INFINITY, this.#limits.runTimeoutMs);
		const over = new AbortController();
		setMaxListeners(0, over.signal);
		const end = (type: string, message: string): void => over.abort(new RunOver(type, message));
		const onCancel = (): void => end('Cancelled', 'The run was cancelled.');
		const onClose = (): void => end('Closed', 'bridge is shutting down.');
		const timer = setTimeout(() => end('RunTimeout', timedOut(limitMs, calls)), limitMs);
		let calls: Calls | undefined;
		signal?.addEventListener('abort', onCancel, {once: true});
		this.#closing.signal.addEventListener('abort', onClose, {once: true});
		if (signal?.aborted) onCancel();
		if (this.#closing.signal.aborted) onClose();
		const packs = this.#packs(options);
		calls = new Calls(packs, this.#limits, over.signal);
		const run: Run = {code: sourceIn(command), packs, calls, signal: over.signal, stdout: () => ''};
		const result = this.#result(run);
		this.#underWay.add(result);
		try {
			return await result;
		} finally {
			this.#underWay.delete(result);
			clearTimeout(timer);
			signal?.removeEventListener('abort', onCancel);
			this.#closing.signal.removeEventListener('abort', onClose);
			// Whatever a program has left running has nobody left to tell.
			end('Ended', 'The run is over.');
		}
	}

	async warmUp(): Promise<void> {
		if (!this.#pool.isInstalled) return;
		await this.#pool.warmUp();
	}

	async close(): Promise<void> {
		this.#closing.abort();
		await Promise.all(this.#underWay);
		await this.#pool.close();
	}

	#packs(own: RunCallOptions): Packs {
		const {log} = this.#options;
		const {packs = this.#options.packs, servers = this.#options.servers} = own;
		return namedPacks(packs(), servers, log);
	}

	async #result(run: Run): Promise<RunResult> {
		try {
			const shown = await this.#shown(run);
			this.#checkOutput(shown);
			return succeeded(run.stdout(), shown, run.calls);
		} catch (error) {
			if (!(error instanceof ProgramError)) throw error;
			return failed(run.stdout(), explained(run, error), run.calls);
		}
	}

	#checkOutput(shown: Shown | undefined): void {
		const bytes = Buffer.byteLength(shown?.text ?? '');
		const {maxOutputBytes} = this.#limits;
		if (bytes <= maxOutputBytes) return;
		const what = `The result has ${bytes} bytes; ${maxOutputBytes} are the limit. Return less of it.`;
		throw new ProgramError('OutputLimit', what);
	}

	async #shown(run: Run): Promise<Shown | undefined> {
		const {code, packs, signal} = run;
		signal.throwIfAborted();
		if (code.trim() === '') throw new ProgramError('SyntaxError', 'There is nothing to run.');
		if (code.length > MAX_PROGRAM_LENGTH) {
			throw new ProgramError('SyntaxError', `The program has more than ${MAX_PROGRAM_LENGTH} characters.`);
		}
		const plain = await plainProgram(code, new Set(packs.names));
		if (plain) return this.#within(this.#plainGate, run, () => plainly(plain, run));
		if (!this.#pool.isInstalled) throw new ProgramError('InterpreterError', installPython);
		return this.#within(this.#gate, run, () => this.#interpret(run));
	}

	async #within<Value>(gate: Gate, {signal}: Run, work: () => Promise<Value>): Promise<Value> {
		const leave = await gate.enter(signal);
		if (!leave) {
			const what = `${gate.inside} runs are under way and ${gate.waiting} wait, which is the limit. Try again later.`;
			throw new ProgramError('Busy', what);
		}
		try {
			return await work();
		} finally {
			leave();
		}
	}

	async #interpret(run: Run): Promise<Shown | undefined> {
		const session = await this.#pool.take().catch(error => {
			const {log} = this.#options;
			log.error('run.interpreter', `No Python interpreter could be started: ${messageOf(error)}`);
			throw new ProgramError(
				'InterpreterError',
				'No Python interpreter could be started. bridge has logged why.',
			);
		});
		run.stdout = () => session.output;
		try {
			return await interpret(session, {code: run.code, packs: run.packs.names}, run.calls, run.signal);
		} finally {
			// Nobody waits for the thread to end, and nothing can go wrong with it that anybody could mend.
			session.end().catch(() => {});
		}
	}
}

/** What Python says when it does not know a name, or cannot do with it what it was told to. */
const misreadings = new Set(['NameError', 'TypeError', 'AttributeError', 'SyntaxError']);

/** An error of a program, with what helps whoever wrote that. */
function explained({code, packs}: Run, error: ProgramError): ProgramError {
	const {type, line} = error;
	const message = error instanceof UnknownName ? packs.unknown(error.unknown) : error.message;
	const hint = misreadings.has(type) ? minusHint(code, packs) : '';
	if (hint === '' && message === error.message) return error;
	return new ProgramError(type, `${message}${/[.?!]$/.test(message) || hint === '' ? '' : '.'}${hint}`, line);
}

async function plainly(plain: PlainProgram, {calls}: Run): Promise<Shown | undefined> {
	const {hasValue, value} = await plain(calls);
	return hasValue ? {text: rendered(value), data: value} : undefined;
}

function timedOut(limitMs: number, calls: Calls | undefined): string {
	const waiting = calls?.inFlight ?? [];
	const what = waiting.length === 0 ? '' : ` while it waited for ${waiting.join(', ')}`;
	return `The run timed out after ${seconds(limitMs)}${what}`;
}

function limitsOf(options: RunnerOptions): Limits {
	return {
		runTimeoutMs: options.runTimeoutMs ?? 30_000,
		maxConcurrent: options.maxConcurrent ?? Math.max(LEAST_CONCURRENT, availableParallelism()),
		maxWaiting: options.maxWaiting ?? 32,
		maxOutputBytes: options.maxOutputBytes ?? MIB,
		maxMemoryBytes: options.maxMemoryBytes ?? 128 * MIB,
		maxCallBytes: options.maxCallBytes ?? 16 * MIB,
		maxCalls: options.maxCalls ?? 100,
		maxParallelCalls: options.maxParallelCalls ?? 8,
		idleMs: options.idleMs ?? 5 * 60_000,
	};
}
