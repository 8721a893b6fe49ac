import type {Socket} from 'node:net';
import {performance} from 'node:perf_hooks';
import type {Readable, Writable} from 'node:stream';
import spawn from 'cross-spawn';
import {Observable, Subscriber} from 'rxjs';
import type {Envelope, MessageOrigin} from '../../core/envelope.js';
import {reuseReadBuffer} from '../../core/fast/reused-read-buffer.js';
import {redactText} from '../../core/redact.js';
import type {Endpoint} from '../../core/stage.js';
import {Valve} from '../../core/valve.js';
import {frame, MESSAGE_LIMIT} from '../../operators/frame.js';
import {pause} from '../../util/pause.js';
import {printableLines} from '../../util/printable.js';
import {createMark, inheritedMarks, MARK_VARIABLE} from '../../util/process-tree.js';
import {fromReadable, toWritable} from '../stdio/message-streams.js';
import {childExitedError, spawnError} from './child-errors.js';
import {
	childEnvironment,
	describeWithheld,
	type Environment,
	type InheritedVariables,
} from './environment.js';
import {type ChildExit, ChildLifetime} from './lifetime.js';

export type ChildOptions = {
	readonly name: string;
	readonly command: string;
	readonly args?: readonly string[];
	/** Variables beyond those that it inherits. */
	readonly env?: Environment;
	/** Those that it inherits [allowed]. */
	readonly inherits?: InheritedVariables;
	/** How a user passes a variable that the allow-list withholds, as a sentence. */
	readonly passHint?: string;
	/** The folder that it runs in; else this process's own. */
	readonly cwd?: string | undefined;
	/**
	 * Receives the stderr of the child in chunks; an empty chunk is the end. If it returns a promise, the next chunk is sent
	 * after that resolves.
	 */
	readonly onStderr: (chunk: Buffer) => Promise<void> | undefined | void;
	readonly maxBytes?: number;
	/** How long the child may take to end by itself once its input has ended, with what it still has to answer. */
	readonly graceMs?: number;
};

export type Child = Endpoint & {
	/** Resolves when the child has ended; fails with a BridgeError when it could not be started. */
	readonly exited: Promise<ChildExit>;
	/** Waits for it to end, now that its input does, and makes it end if it does not by the time `hurry` resolves. */
	finish(deadline?: Promise<unknown>): Promise<void>;
	/** Ends it and all that it started at once. */
	kill(): void;
};

/** With what comes after it, a client that closed its end sees everything gone within 5 s. */
const GRACE_MS = 3000;
/** Whoever closes a child in the midst of a conversation has no time for what it still has to say. */
const CLOSE_MS = 1000;
/** How much of stderr is kept for the error that says why the child died. */
const STDERR_TAIL_BYTES = 1000;
/** A child that exits by then may have lacked a variable. A first start of `npx` installs the program first. */
const EARLY_MS = 30_000;
/** How long stdout may stay open, silent, after its writer has ended. */
const SILENT_MS = 500;

/** A server that runs as a child process and speaks on its stdin and stdout. All that it starts in turn ends with it. */
export function child(options: ChildOptions): Child {
	const {name, command, args = [], env = {}, inherits, cwd, onStderr} = options;
	const {maxBytes = MESSAGE_LIMIT, graceMs = GRACE_MS} = options;
	const mark = createMark();
	const visible = childEnvironment(env, inherits);
	const childProcess = spawnMarked(command, args, {env: visible, cwd}, mark);
	const withheldHint = createWithheldHint(options);
	const lifetime = new ChildLifetime(childProcess, mark);
	const [stdin, output, stderr] = childProcess.stdio as unknown as [Writable, Socket, Socket];
	const stdout = reuseReadBuffer(output);
	const origin: MessageOrigin = {name, valve: new Valve()};
	const stderrTail = collectStderrTail(stderr, onStderr);
	stdin.on('error', () => lifetime.onHalfClosed());
	stdout.once('end', () => lifetime.onHalfClosed());
	const exited = lifetime.exited.catch(error => {
		throw spawnError(command, error, visible);
	});
	const drained = exited.then(
		async () => {
			await Promise.all([closeWhenSilent(stdout, origin.valve), closeWhenSilent(stderr)]);
		},
		() => {},
	);
	/** Whether whoever listens has been told of the end. */
	let endDelivered: Promise<unknown> = Promise.resolve();
	const settle = async (): Promise<void> => {
		await drained;
		await endDelivered;
	};
	return {
		name,
		exited,
		disconnected: drained,
		incoming: new Observable(subscriber => {
			const messages = fromReadable(stdout, origin.valve).pipe(frame(origin, {maxBytes}));
			// How the child ended, and what it last said of it, is known only after its output ended.
			endDelivered = Promise.all([forwardMessages(messages, subscriber), drained])
				.then(() => exited)
				.then(
					exit => {
						const stderrText = stderrTail();
						endWith(
							subscriber,
							exit.cause === 'asked'
								? undefined
								: childExitedError(name, exit, stderrText, withheldHint(stderrText)),
						);
					},
					error => endWith(subscriber, error),
				);
		}),
		outgoing: toWritable(stdin),
		kill: () => lifetime.kill(),
		finish: deadline => lifetime.end(graceMs, deadline).then(settle),
		async close() {
			stdin.end();
			await lifetime.end(Math.min(graceMs, CLOSE_MS));
			// Who was to hear its last words may never do so.
			await Promise.race([settle(), pause(CLOSE_MS)]);
			stdout.destroy();
			await drained;
		},
	};
}

const spawnMarked = (
	command: string,
	args: readonly string[],
	{env, cwd}: {readonly env: Environment; readonly cwd: string | undefined},
	mark: string,
) =>
	spawn(command, [...args], {
		stdio: ['pipe', 'pipe', 'pipe'],
		// A group, and on POSIX systems a session, of its own: it can be ended whole, and hears no Ctrl-C meant for bridge.
		detached: true,
		windowsHide: true,
		...(cwd === undefined ? {} : {cwd}),
		env: {...env, [MARK_VARIABLE]: inheritedMarks(mark)},
	});

/** A small program of the system's that starts nobody and ends with its input, like `cat`. */
type HelperProcess = {
	/** What it said first; its exit code, where it ended before; undefined where it could not be started. */
	readonly firstOutput: Promise<Buffer | number | undefined>;
	readonly stdin: Writable;
};

/** Starts one. To look after it as after a server would cost more than it does. */
export function startHelper(command: string, args: readonly string[]): HelperProcess {
	const helperProcess = spawnMarked(command, args, {env: childEnvironment({}), cwd: undefined}, createMark());
	const [stdin, stdout, stderr] = helperProcess.stdio as unknown as [Writable, Readable, Readable];
	stdin.on('error', () => {});
	stderr.resume();
	const firstOutput = new Promise<Buffer | number | undefined>(resolve => {
		stdout.once('data', resolve);
		helperProcess.once('error', () => resolve(undefined));
		helperProcess.once('exit', code => resolve(code ?? undefined));
	});
	return {firstOutput, stdin};
}

/** Names the withheld variables in the error of a child that exits early; returns an empty text later on. */
function createWithheldHint({
	env = {},
	inherits,
	passHint: passWith,
}: ChildOptions): (stderrText: string) => string {
	const startedAt = performance.now();
	return stderrText =>
		inherits === 'all' || passWith === undefined || performance.now() - startedAt > EARLY_MS
			? ''
			: describeWithheld(env, {said: stderrText, remedy: passWith});
}

/** Passes all messages on, but not the end. Resolves when that has come. */
const forwardMessages = (messages: Observable<Envelope>, subscriber: Subscriber<Envelope>): Promise<void> =>
	new Promise(resolve => {
		subscriber.add(messages.subscribe(new WithoutEnd(subscriber, resolve)));
	});

/** A class of RxJS's own kind, for the same reason as a stage's step. */
class WithoutEnd extends Subscriber<Envelope> {
	readonly #next: Subscriber<Envelope>;
	readonly #onEnd: () => void;

	constructor(next: Subscriber<Envelope>, onEnd: () => void) {
		super();
		this.#next = next;
		this.#onEnd = onEnd;
	}

	override next(envelope: Envelope): void {
		this.#next.next(envelope);
	}

	protected override _error(): void {
		this.#onEnd();
	}

	protected override _complete(): void {
		this.#onEnd();
	}
}

const endWith = (subscriber: Subscriber<Envelope>, error?: unknown): void =>
	error === undefined ? subscriber.complete() : subscriber.error(error);

/** Lets go of an output that somebody else holds open. What is on its way still arrives, however slow its reader is. */
async function closeWhenSilent(output: Socket, valve?: Valve): Promise<void> {
	const closed = new Promise(resolve => output.once('close', resolve));
	for (let bytesRead = -1; !output.readableEnded && !output.destroyed; ) {
		if (valve?.isOpen !== false && bytesRead === output.bytesRead) output.destroy();
		bytesRead = output.bytesRead;
		await Promise.race([closed, pause(SILENT_MS)]);
	}
}

/** Passes stderr on, and remembers the end of it. */
function collectStderrTail(stderr: Readable, forward: ChildOptions['onStderr']): () => string {
	let tail: Buffer = Buffer.alloc(0);
	stderr.on('data', (chunk: Buffer) => {
		const drained = forward(chunk);
		if (drained) {
			stderr.pause();
			void drained.then(() => stderr.resume());
		}
		tail = chunk.length >= STDERR_TAIL_BYTES ? chunk : Buffer.concat([tail, chunk]);
		tail = tail.subarray(-STDERR_TAIL_BYTES);
	});
	stderr.once('end', () => void forward(Buffer.alloc(0)));
	return () => printableLines(redactText(tail.toString().trim()));
}
