import type {Socket} from 'node:net';
import {performance} from 'node:perf_hooks';
import type {Readable, Writable} from 'node:stream';
import spawn from 'cross-spawn';
import {Observable, type Subscriber} from 'rxjs';
import type {Envelope, MessageOrigin} from '../../core/envelope.js';
import {reuseReadBuffer} from '../../core/fast/reused-read-buffer.js';
import {subscribeDirectly} from '../../core/fast/subscriber.js';
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
	readonly env?: Environment;
	/** The inherited variables [allowed]. */
	readonly inherits?: InheritedVariables;
	/** A sentence for users: how to pass a variable that the allow-list withholds. */
	readonly passHint?: string;
	/** The working directory [that of this process]. */
	readonly cwd?: string | undefined;
	/**
	 * Receives the stderr of the child in chunks; an empty chunk is the end. After a call that returns a
	 * promise, stderr is paused until that resolves.
	 */
	readonly onStderr: (chunk: Buffer) => Promise<void> | undefined | void;
	readonly maxBytes?: number;
	/** How long the child may take to exit after its input has ended, including its pending responses. */
	readonly graceMs?: number;
};

export type Child = Endpoint & {
	/** Resolves when the child has exited. Rejects with a BridgeError when it could not be started. */
	readonly exited: Promise<ChildExit>;
	/** Waits for the exit after the end of the input. Terminates it after the grace period or `deadline`. */
	finish(deadline?: Promise<unknown>): Promise<void>;
	/** Kills the child and its descendants immediately. */
	kill(): void;
};

/** Together with the timeouts after it, all processes exit within 5 s after the client has closed stdin. */
const GRACE_MS = 3000;
/** The grace period of `close`, which does not wait for pending responses. */
const CLOSE_MS = 1000;
/** The tail of stderr that is kept for the error of an exit. */
const STDERR_TAIL_BYTES = 1000;
/**
 * A child that exits within this time may lack a variable. A first start by `npx` includes the installation.
 */
const EARLY_MS = 30_000;
/** How long an output that another process holds open may be silent after the exit before it is closed. */
const SILENT_MS = 500;

/** Starts an upstream as a child process on stdin and stdout. Its descendants are terminated with it. */
export function child(options: ChildOptions): Child {
	const {name, command, args = [], env = {}, inherits, cwd, onStderr} = options;
	const {maxBytes = MESSAGE_LIMIT, graceMs = GRACE_MS} = options;
	const mark = createMark();
	const childEnv = childEnvironment(env, inherits);
	const childProcess = spawnMarked(command, args, {env: childEnv, cwd}, mark);
	const withheldHint = createWithheldHint(options);
	const lifetime = new ChildLifetime(childProcess, mark);
	const [stdin, output, stderr] = childProcess.stdio as unknown as [Writable, Socket, Socket];
	const stdout = reuseReadBuffer(output);
	const origin: MessageOrigin = {name, valve: new Valve()};
	const stderrTail = collectStderrTail(stderr, onStderr);
	stdin.on('error', () => lifetime.onHalfClosed());
	stdout.once('end', () => lifetime.onHalfClosed());
	const exited = lifetime.exited.catch(error => {
		throw spawnError(command, error, childEnv);
	});
	const drained = exited.then(
		async () => {
			await Promise.all([closeWhenSilent(stdout, origin.valve), closeWhenSilent(stderr)]);
		},
		() => {},
	);
	/** Resolves when the subscriber of `incoming` has received the end. */
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
			// The exit and the last stderr lines are complete only after the outputs have ended.
			endDelivered = Promise.all([forwardMessages(messages, subscriber), drained])
				.then(() => exited)
				.then(
					exit => {
						const stderrText = stderrTail();
						endWith(
							subscriber,
							exit.cause === 'requested'
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
			// The subscriber may never open its valve, so the wait is bounded.
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
		// A separate process group (on POSIX a session): it can be signaled as a whole, and Ctrl-C does not
		// reach it.
		detached: true,
		windowsHide: true,
		...(cwd === undefined ? {} : {cwd}),
		env: {...env, [MARK_VARIABLE]: inheritedMarks(mark)},
	});

/** A small system program, such as `cat`: it starts no processes and exits when its input ends. */
type HelperProcess = {
	/** The first output; the exit code if it exits without output; undefined if it could not be started. */
	readonly firstOutput: Promise<Buffer | number | undefined>;
	readonly stdin: Writable;
};

/** Starts a helper without the supervision of a child, which would cost more than the helper itself. */
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

/** Describes the withheld variables for the error of an early exit. The text is empty after `EARLY_MS`. */
function createWithheldHint({env = {}, inherits, passHint}: ChildOptions): (stderrText: string) => string {
	const startedAt = performance.now();
	return stderrText =>
		inherits === 'all' || passHint === undefined || performance.now() - startedAt > EARLY_MS
			? ''
			: describeWithheld(env, {stderrText, remedy: passHint});
}

/** Forwards all messages, but not the end of the stream. Resolves at the end. */
const forwardMessages = (messages: Observable<Envelope>, subscriber: Subscriber<Envelope>): Promise<void> =>
	new Promise(resolve => {
		subscriber.add(
			subscribeDirectly(messages, {
				next: envelope => subscriber.next(envelope),
				error: () => resolve(),
				complete: resolve,
			}),
		);
	});

const endWith = (subscriber: Subscriber<Envelope>, error?: unknown): void =>
	error === undefined ? subscriber.complete() : subscriber.error(error);

/**
 * Closes an output that another process holds open, once it is silent. Data under backpressure still arrives.
 */
async function closeWhenSilent(output: Socket, valve?: Valve): Promise<void> {
	const closed = new Promise(resolve => output.once('close', resolve));
	for (let bytesRead = -1; !output.readableEnded && !output.destroyed; ) {
		if (valve?.isOpen !== false && bytesRead === output.bytesRead) output.destroy();
		bytesRead = output.bytesRead;
		await Promise.race([closed, pause(SILENT_MS)]);
	}
}

/** Forwards stderr. Returns a function for its redacted tail. */
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
