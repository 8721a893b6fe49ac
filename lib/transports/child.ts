import type {Socket} from 'node:net';
import {performance} from 'node:perf_hooks';
import type {Readable, Writable} from 'node:stream';
import spawn from 'cross-spawn';
import {Observable, Subscriber} from 'rxjs';
import type {Envelope, Origin} from '../envelope.js';
import {frame, MESSAGE_LIMIT} from '../operators/frame.js';
import {pause} from '../pause.js';
import {printableLines} from '../printable.js';
import type {Endpoint} from '../stage.js';
import {redactText} from '../store/redact.js';
import {Valve} from '../valve.js';
import {couldNotStart, died} from './child-errors.js';
import {childEnvironment, type Environment, type Inherited, withheldFrom} from './environment.js';
import {leanly} from './lean-socket.js';
import {type Exit, Lifetime} from './lifetime.js';
import {MARK, marksWith, newMark} from './process-tree.js';
import {fromReadable, toWritable} from './streams.js';

export type ChildOptions = {
	readonly name: string;
	readonly command: string;
	readonly args?: readonly string[];
	/** Variables beyond those that it inherits. */
	readonly env?: Environment;
	/** Those that it inherits [allowed]. */
	readonly inherits?: Inherited;
	/** How a user passes a variable that the allow-list withholds, as a sentence. */
	readonly passWith?: string;
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
	readonly exited: Promise<Exit>;
	/** Waits for it to end, now that its input does, and makes it end if it does not by the time `hurry` resolves. */
	finish(hurry?: Promise<unknown>): Promise<void>;
	/** Ends it and all that it started at once. */
	kill(): void;
};

/** With what comes after it, a client that closed its end sees everything gone within 5 s. */
const GRACE_MS = 3000;
/** Whoever closes a child in the midst of a conversation has no time for what it still has to say. */
const CLOSE_MS = 1000;
/** How much of stderr is kept for the error that says why the child died. */
const LAST_WORDS = 1000;
/** A child that exits by then may have lacked a variable. A first start of `npx` installs the program first. */
const EARLY_MS = 30_000;
/** How long stdout may stay open, silent, after its writer has ended. */
const HELD_MS = 500;

/** A server that runs as a child process and speaks on its stdin and stdout. All that it starts in turn ends with it. */
export function child(options: ChildOptions): Child {
	const {name, command, args = [], env = {}, inherits, cwd, onStderr} = options;
	const {maxBytes = MESSAGE_LIMIT, graceMs = GRACE_MS} = options;
	const mark = newMark();
	const visible = childEnvironment(env, inherits);
	const server = spawnMarked(command, args, {env: visible, cwd}, mark);
	const withheld = withheldEarly(options);
	const life = new Lifetime(server, mark);
	const [stdin, output, stderr] = server.stdio as unknown as [Writable, Socket, Socket];
	const stdout = leanly(output);
	const origin: Origin = {name, valve: new Valve()};
	const words = lastWords(stderr, onStderr);
	stdin.on('error', () => life.halfClosed());
	stdout.once('end', () => life.halfClosed());
	const exited = life.exited.catch(error => {
		throw couldNotStart(command, error, visible);
	});
	const drained = exited.then(
		async () => {
			await Promise.all([letGo(stdout, origin.valve), letGo(stderr)]);
		},
		() => {},
	);
	/** Whether whoever listens has been told of the end. */
	let told: Promise<unknown> = Promise.resolve();
	const settle = async (): Promise<void> => {
		await drained;
		await told;
	};
	return {
		name,
		exited,
		gone: drained,
		incoming: new Observable(subscriber => {
			const messages = fromReadable(stdout, origin.valve).pipe(frame(origin, {maxBytes}));
			// How the child ended, and what it last said of it, is known only after its output ended.
			told = Promise.all([passOn(messages, subscriber), drained])
				.then(() => exited)
				.then(
					exit => {
						const said = words();
						endWith(subscriber, exit.cause === 'asked' ? undefined : died(name, exit, said, withheld(said)));
					},
					error => endWith(subscriber, error),
				);
		}),
		outgoing: toWritable(stdin),
		kill: () => life.kill(),
		finish: hurry => life.end(graceMs, hurry).then(settle),
		async close() {
			stdin.end();
			await life.end(Math.min(graceMs, CLOSE_MS));
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
		env: {...env, [MARK]: marksWith(mark)},
	});

/** A small program of the system's that starts nobody and ends with its input, like `cat`. */
export type Helper = {
	/** What it said first; its exit code, where it ended before; undefined where it could not be started. */
	readonly first: Promise<Buffer | number | undefined>;
	readonly stdin: Writable;
};

/** Starts one. To look after it as after a server would cost more than it does. */
export function helper(command: string, args: readonly string[]): Helper {
	const program = spawnMarked(command, args, {env: childEnvironment({}), cwd: undefined}, newMark());
	const [stdin, stdout, stderr] = program.stdio as unknown as [Writable, Readable, Readable];
	stdin.on('error', () => {});
	stderr.resume();
	const first = new Promise<Buffer | number | undefined>(resolve => {
		stdout.once('data', resolve);
		program.once('error', () => resolve(undefined));
		program.once('exit', code => resolve(code ?? undefined));
	});
	return {first, stdin};
}

/** Names the withheld variables in the error of a child that exits early; returns an empty text later on. */
function withheldEarly({env = {}, inherits, passWith}: ChildOptions): (said: string) => string {
	const started = performance.now();
	return said =>
		inherits === 'all' || passWith === undefined || performance.now() - started > EARLY_MS
			? ''
			: withheldFrom(env, {said, remedy: passWith});
}

/** Passes all messages on, but not the end. Resolves when that has come. */
const passOn = (messages: Observable<Envelope>, subscriber: Subscriber<Envelope>): Promise<void> =>
	new Promise(resolve => {
		subscriber.add(messages.subscribe(new ButTheEnd(subscriber, resolve)));
	});

/** A class of RxJS's own kind, for the same reason as a stage's step. */
class ButTheEnd extends Subscriber<Envelope> {
	readonly #next: Subscriber<Envelope>;
	readonly #ended: () => void;

	constructor(next: Subscriber<Envelope>, ended: () => void) {
		super();
		this.#next = next;
		this.#ended = ended;
	}

	override next(envelope: Envelope): void {
		this.#next.next(envelope);
	}

	protected override _error(): void {
		this.#ended();
	}

	protected override _complete(): void {
		this.#ended();
	}
}

const endWith = (subscriber: Subscriber<Envelope>, error?: unknown): void =>
	error === undefined ? subscriber.complete() : subscriber.error(error);

/** Lets go of an output that somebody else holds open. What is on its way still arrives, however slow its reader is. */
async function letGo(output: Socket, valve?: Valve): Promise<void> {
	const closed = new Promise(resolve => output.once('close', resolve));
	for (let seen = -1; !output.readableEnded && !output.destroyed; ) {
		if (valve?.isOpen !== false && seen === output.bytesRead) output.destroy();
		seen = output.bytesRead;
		await Promise.race([closed, pause(HELD_MS)]);
	}
}

/** Passes stderr on, and remembers the end of it. */
function lastWords(stderr: Readable, pass: ChildOptions['onStderr']): () => string {
	let kept: Buffer = Buffer.alloc(0);
	stderr.on('data', (chunk: Buffer) => {
		const room = pass(chunk);
		if (room) {
			stderr.pause();
			void room.then(() => stderr.resume());
		}
		kept = chunk.length >= LAST_WORDS ? chunk : Buffer.concat([kept, chunk]);
		kept = kept.subarray(-LAST_WORDS);
	});
	stderr.once('end', () => void pass(Buffer.alloc(0)));
	return () => printableLines(redactText(kept.toString().trim()));
}
