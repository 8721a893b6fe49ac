import {setMaxListeners} from 'node:events';
import {DEFAULT_RUN_CALL_BYTES} from '../config/default-run-call-bytes.js';
import {defaultRunSlots} from '../config/default-run-slots.js';
import {unlessAborted} from '../util/unless-aborted.js';
import {ConcurrencyLimiter} from './concurrency-limiter.js';
import {createRunPacks} from './create-run-packs.js';
import {extractSource} from './extract-source.js';
import {hyphenHint} from './hyphen-hint.js';
import {interpretProgram, type RenderedValue, UnknownNameError} from './interpret-program.js';
import {compilePlainProgram, type PlainProgram} from './plain-program.js';
import {messageOf, ProgramError, RunEndedError} from './program-error.js';
import {InterpreterPool} from './python/interpreter-pool.js';
import {installPythonHint} from './python/python-package.js';
import {formatSeconds, RunCalls} from './run-calls.js';
import type {RunPacks} from './run-packs.js';
import {errorResult, successResult} from './run-result.js';
import {renderValue} from './tool-result.js';
import type {RunCallOptions, Runner, RunnerOptions, RunResult} from './types.js';
import {checkValue, MAX_RESULT_VALUES} from './value-limits.js';

const MIB = 1024 * 1024;
const MAX_PROGRAM_LENGTH = MIB;
/** Plain programs use little CPU: they mostly wait for calls. */
const MAX_PLAIN_RUNS = 64;
/** The interpreter's share of the memory of a run. The rest is for its thread and for messages in transit. */
const INTERPRETER_SHARE = 0.75;
/** Attempts over `maxCalls` before the program is ended. Programs can catch the errors of such calls. */
const SPARE_ATTEMPTS = 100;

type Limits = Required<Omit<RunnerOptions, 'packs' | 'servers' | 'log'>>;

/** Creates a runner for Python programs that call packs. */
export function createRunner(options: RunnerOptions): Runner {
	return new ProgramRunner(options);
}

/** The state of one run. */
type Run = {
	readonly code: string;
	readonly packs: RunPacks;
	readonly calls: RunCalls;
	readonly signal: AbortSignal;
	/** The client of the run, and its share of all slots. */
	readonly client: string;
	readonly share: number;
	/** Returns the text printed so far. */
	readStdout: () => string;
	/** Resolves when the thread of the interpreter has ended. */
	interpreterEnded: Promise<unknown>;
};

class ProgramRunner implements Runner {
	readonly #options: RunnerOptions;
	readonly #limits: Limits;
	readonly #pool: InterpreterPool;
	readonly #interpreterLimiter: ConcurrencyLimiter;
	readonly #plainLimiter: ConcurrencyLimiter;
	readonly #closing = new AbortController();
	readonly #activeRuns = new Set<Promise<unknown>>();

	constructor(options: RunnerOptions) {
		this.#options = options;
		// Each active run adds one listener. Their number is bounded.
		setMaxListeners(0, this.#closing.signal);
		this.#limits = withDefaultLimits(options);
		const {maxOutputBytes, maxMemoryBytes, idleMs, maxConcurrent, maxQueued} = this.#limits;
		const maxAttempts = this.#limits.maxCalls + SPARE_ATTEMPTS;
		// JSON escapes can triple the length of a text. Control characters can grow sixfold, so their number
		// is limited separately.
		const messages = {maxOutcomeBytes: 3 * maxOutputBytes + 1024, maxAttempts};
		const memory = {maxMemoryBytes: INTERPRETER_SHARE * maxMemoryBytes, idleMs};
		this.#pool = new InterpreterPool({...messages, ...memory, maxOutputBytes});
		this.#interpreterLimiter = new ConcurrencyLimiter(maxConcurrent, maxQueued);
		this.#plainLimiter = new ConcurrencyLimiter(MAX_PLAIN_RUNS, maxQueued);
	}

	async run(command: string, options: RunCallOptions = {}): Promise<RunResult> {
		if (command.length > MAX_PROGRAM_LENGTH) return errorResult('', programTooLong());
		const {signal, timeoutMs, client = '', clientRuns} = options;
		const limitMs = Math.min(timeoutMs ?? Number.POSITIVE_INFINITY, this.#limits.runTimeoutMs);
		const runController = new AbortController();
		setMaxListeners(0, runController.signal);
		const abortRun = (type: string, message: string): void =>
			runController.abort(new RunEndedError(type, message));
		const onCancel = (): void => abortRun('Cancelled', 'The run was cancelled.');
		const onClose = (): void => abortRun('Closed', 'bridge is shutting down.');
		const timer = setTimeout(() => abortRun('RunTimeout', timeoutMessage(limitMs, calls)), limitMs);
		let calls: RunCalls | undefined;
		signal?.addEventListener('abort', onCancel, {once: true});
		this.#closing.signal.addEventListener('abort', onClose, {once: true});
		if (signal?.aborted) onCancel();
		if (this.#closing.signal.aborted) onClose();
		const packs = this.#createPacks(options);
		const {maxCallBytes = this.#limits.maxCallBytes} = options;
		calls = new RunCalls(packs, {...this.#limits, maxCallBytes}, runController.signal);
		const share = clientRuns ? clientRuns / this.#limits.maxConcurrent : 1;
		const result = this.#execute({
			code: extractSource(command),
			packs,
			calls,
			signal: runController.signal,
			client,
			share,
			readStdout: () => '',
			interpreterEnded: Promise.resolve(),
		});
		this.#activeRuns.add(result);
		try {
			return await result;
		} finally {
			this.#activeRuns.delete(result);
			clearTimeout(timer);
			signal?.removeEventListener('abort', onCancel);
			this.#closing.signal.removeEventListener('abort', onClose);
			// Calls that are still pending have no receiver for their results.
			abortRun('Ended', 'The run is over.');
		}
	}

	async warmUp(): Promise<void> {
		if (!this.#pool.isInstalled) return;
		await this.#pool.warmUp();
	}

	async close(): Promise<void> {
		this.#closing.abort();
		await Promise.all(this.#activeRuns);
		await this.#pool.close();
	}

	#createPacks(options: RunCallOptions): RunPacks {
		const {log} = this.#options;
		const {packs = this.#options.packs, servers = this.#options.servers} = options;
		return createRunPacks(packs(), servers, log);
	}

	async #execute(run: Run): Promise<RunResult> {
		try {
			const value = await this.#evaluate(run);
			this.#checkOutput(value);
			return successResult(run.readStdout(), value, run.calls);
		} catch (error) {
			if (!(error instanceof ProgramError)) throw error;
			return errorResult(run.readStdout(), withHints(run, error), run.calls);
		}
	}

	#checkOutput(value: RenderedValue | undefined): void {
		const {maxOutputBytes} = this.#limits;
		if (Buffer.byteLength(value?.text ?? '') > maxOutputBytes)
			throw new ProgramError('OutputLimit', `The result has more than ${maxOutputBytes} bytes.`);
	}

	async #evaluate(run: Run): Promise<RenderedValue | undefined> {
		const {code, packs, signal} = run;
		signal.throwIfAborted();
		if (code.trim() === '') throw new ProgramError('SyntaxError', 'The program is empty.');
		const plain = await compilePlainProgram(code, new Set(packs.names));
		if (plain) return this.#withSlot(this.#plainLimiter, run, () => this.#runPlain(plain, run));
		if (!this.#pool.isInstalled) throw new ProgramError('InterpreterError', installPythonHint);
		return this.#withSlot(this.#interpreterLimiter, run, () => this.#interpret(run));
	}

	async #withSlot<Value>(limiter: ConcurrencyLimiter, run: Run, work: () => Promise<Value>): Promise<Value> {
		const {signal, client, share} = run;
		const release = await limiter.acquire(signal, client, share);
		if (!release) {
			const clientHint = share < 1 ? ', or raise limits.clientRuns' : '';
			const message = `Too many programs: ${limiter.active} running, ${limiter.queued} queued. Try again later${clientHint}.`;
			throw new ProgramError('Busy', message);
		}
		try {
			return await work();
		} finally {
			// Releases the slot only after the thread has ended, so that there are never more threads than
			// slots.
			void run.interpreterEnded.then(release);
		}
	}

	async #runPlain(plain: PlainProgram, {calls}: Run): Promise<RenderedValue | undefined> {
		const {hasValue, value} = await plain(calls);
		if (!hasValue) return;
		const {maxOutputBytes: maxBytes} = this.#limits;
		checkValue(value, {maxBytes, maxValues: MAX_RESULT_VALUES}, 'The result');
		return {text: renderValue(value), data: value};
	}

	async #interpret(run: Run): Promise<RenderedValue | undefined> {
		const acquired = this.#pool.acquire().catch(error => {
			const {log} = this.#options;
			log.error('run.interpreter', `The Python interpreter did not start: ${messageOf(error)}`);
			throw new ProgramError(
				'InterpreterError',
				'The Python interpreter did not start. See the log of bridge for the reason.',
			);
		});
		try {
			const interpreter = await unlessAborted(acquired, run.signal);
			run.readStdout = () => interpreter.output;
			return await interpretProgram(
				interpreter,
				{code: run.code, packs: run.packs.names},
				run.calls,
				run.signal,
			);
		} finally {
			// The result does not wait until the thread has ended, or has started if the run timed out before
			// that.
			run.interpreterEnded = acquired.then(interpreter => interpreter.terminate()).catch(() => {});
		}
	}
}

/** The Python errors that a misread hyphenated name can cause. */
const hintedErrors = new Set(['NameError', 'TypeError', 'AttributeError', 'SyntaxError']);

/** Adds the available packs and the hyphen hint to an error. */
function withHints({code, packs}: Run, error: ProgramError): ProgramError {
	const {type, line} = error;
	const message =
		error instanceof UnknownNameError ? packs.unknownNameMessage(error.unknownName) : error.message;
	const hint = hintedErrors.has(type) ? hyphenHint(code, packs) : '';
	if (hint === '' && message === error.message) return error;
	return new ProgramError(type, `${message}${/[.?!]$/.test(message) || hint === '' ? '' : '.'}${hint}`, line);
}

const programTooLong = (): ProgramError =>
	new ProgramError('SyntaxError', `The program has more than ${MAX_PROGRAM_LENGTH} characters.`);

function timeoutMessage(limitMs: number, calls: RunCalls | undefined): string {
	const pendingTools = calls?.inFlight ?? [];
	const pendingHint = pendingTools.length === 0 ? '' : ` while it waited for ${pendingTools.join(', ')}`;
	return `The run timed out after ${formatSeconds(limitMs)}${pendingHint}. Do less in one run, or raise runTimeout in the configuration.`;
}

function withDefaultLimits(options: RunnerOptions): Limits {
	return {
		runTimeoutMs: options.runTimeoutMs ?? 90_000,
		maxConcurrent: options.maxConcurrent ?? defaultRunSlots(),
		maxQueued: options.maxQueued ?? 32,
		maxOutputBytes: options.maxOutputBytes ?? MIB,
		maxMemoryBytes: options.maxMemoryBytes ?? 128 * MIB,
		maxCallBytes: options.maxCallBytes ?? DEFAULT_RUN_CALL_BYTES,
		maxCalls: options.maxCalls ?? 100,
		maxParallelCalls: options.maxParallelCalls ?? 8,
		idleMs: options.idleMs ?? 5 * 60_000,
	};
}
