import {setMaxListeners} from 'node:events';
import {CALL_BYTES} from './call-bytes.js';
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
import {runSlots} from './slots.js';
import {sourceIn} from './source.js';
import type {RunCallOptions, Runner, RunnerOptions, RunResult} from './types.js';
import {unlessAborted} from './unless-aborted.js';
import {checkValue, MAX_RESULT_VALUES} from './value-limits.js';
import {rendered} from './values.js';

const MIB = 1024 * 1024;
const MAX_PROGRAM_LENGTH = MIB;
/** Programs that need no interpreter cost little: what they wait for is elsewhere. */
const MAX_PLAIN = 64;
/** The interpreter's part of a run's memory. The rest is for its thread and for messages on their way. */
const INTERPRETER_SHARE = 0.75;
/** Calls over `maxCalls` fail, which a program can catch. After this many of them it ends. */
const SPARE_ATTEMPTS = 100;

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
	/** The client of the run, and the share of all slots that it may use. */
	readonly client: string;
	readonly share: number;
	/** What it has printed, as far as that is known. */
	stdout: () => string;
	/** Resolves when its interpreter is gone. */
	ended: Promise<unknown>;
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
		const {maxOutputBytes, maxMemoryBytes, idleMs, maxConcurrent, maxWaiting} = this.#limits;
		const maxAttempts = this.#limits.maxCalls + SPARE_ATTEMPTS;
		// Letters may be three times as long in JSON as they are. Control characters may be six times as long: fewer of them fit.
		const messages = {maxOutcomeBytes: 3 * maxOutputBytes + 1024, maxAttempts};
		const memory = {maxMemoryBytes: INTERPRETER_SHARE * maxMemoryBytes, idleMs};
		this.#pool = new Pool({...messages, ...memory, maxOutputBytes});
		this.#gate = new Gate(maxConcurrent, maxWaiting);
		this.#plainGate = new Gate(MAX_PLAIN, maxWaiting);
	}

	async run(command: string, options: RunCallOptions = {}): Promise<RunResult> {
		if (command.length > MAX_PROGRAM_LENGTH) return failed('', tooLong());
		const {signal, timeoutMs, client = '', clientRuns} = options;
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
		const {maxCallBytes = this.#limits.maxCallBytes} = options;
		calls = new Calls(packs, {...this.#limits, maxCallBytes}, over.signal);
		const share = clientRuns ? clientRuns / this.#limits.maxConcurrent : 1;
		const result = this.#result({
			code: sourceIn(command),
			packs,
			calls,
			signal: over.signal,
			client,
			share,
			stdout: () => '',
			ended: Promise.resolve(),
		});
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
		const {maxOutputBytes} = this.#limits;
		if (Buffer.byteLength(shown?.text ?? '') > maxOutputBytes)
			throw new ProgramError('OutputLimit', `The result has more than ${maxOutputBytes} bytes.`);
	}

	async #shown(run: Run): Promise<Shown | undefined> {
		const {code, packs, signal} = run;
		signal.throwIfAborted();
		if (code.trim() === '') throw new ProgramError('SyntaxError', 'There is nothing to run.');
		const plain = await plainProgram(code, new Set(packs.names));
		if (plain) return this.#within(this.#plainGate, run, () => this.#plainly(plain, run));
		if (!this.#pool.isInstalled) throw new ProgramError('InterpreterError', installPython);
		return this.#within(this.#gate, run, () => this.#interpret(run));
	}

	async #within<Value>(gate: Gate, run: Run, work: () => Promise<Value>): Promise<Value> {
		const {signal, client, share} = run;
		const leave = await gate.enter(signal, client, share);
		if (!leave) {
			const part = share < 1 ? ', or that of one client (limits.clientRuns)' : '';
			const what = `${gate.inside} programs run and ${gate.waiting} wait, which is the limit${part}. Try again later.`;
			throw new ProgramError('Busy', what);
		}
		try {
			return await work();
		} finally {
			// The slot is released when the thread has ended, so that there are never more threads than slots.
			void run.ended.then(leave);
		}
	}

	async #plainly(plain: PlainProgram, {calls}: Run): Promise<Shown | undefined> {
		const {hasValue, value} = await plain(calls);
		if (!hasValue) return;
		const {maxOutputBytes: maxBytes} = this.#limits;
		checkValue(value, {maxBytes, maxValues: MAX_RESULT_VALUES}, 'The result');
		return {text: rendered(value), data: value};
	}

	async #interpret(run: Run): Promise<Shown | undefined> {
		const taken = this.#pool.take().catch(error => {
			const {log} = this.#options;
			log.error('run.interpreter', `No Python interpreter could be started: ${messageOf(error)}`);
			throw new ProgramError(
				'InterpreterError',
				'No Python interpreter could be started. bridge has logged why.',
			);
		});
		try {
			const session = await unlessAborted(taken, run.signal);
			run.stdout = () => session.output;
			return await interpret(session, {code: run.code, packs: run.packs.names}, run.calls, run.signal);
		} finally {
			// The result does not wait for the thread to end, or to start if the time is over before it has.
			run.ended = taken.then(session => session.end()).catch(() => {});
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

const tooLong = (): ProgramError =>
	new ProgramError('SyntaxError', `The program has more than ${MAX_PROGRAM_LENGTH} characters.`);

function timedOut(limitMs: number, calls: Calls | undefined): string {
	const waiting = calls?.inFlight ?? [];
	const what = waiting.length === 0 ? '' : ` while it waited for ${waiting.join(', ')}`;
	return `The run timed out after ${seconds(limitMs)}${what}. Do less in one run, or raise runTimeout in the configuration.`;
}

function limitsOf(options: RunnerOptions): Limits {
	return {
		runTimeoutMs: options.runTimeoutMs ?? 90_000,
		maxConcurrent: options.maxConcurrent ?? runSlots(),
		maxWaiting: options.maxWaiting ?? 32,
		maxOutputBytes: options.maxOutputBytes ?? MIB,
		maxMemoryBytes: options.maxMemoryBytes ?? 128 * MIB,
		maxCallBytes: options.maxCallBytes ?? CALL_BYTES,
		maxCalls: options.maxCalls ?? 100,
		maxParallelCalls: options.maxParallelCalls ?? 8,
		idleMs: options.idleMs ?? 5 * 60_000,
	};
}
