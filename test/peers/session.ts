import {isDeepStrictEqual} from 'node:util';
import type {ExecutionContext} from 'ava';
import split2 from 'split2';
import {type Command, throughBridge} from './peers.js';
import {processesWith, survivorsOf} from './processes.js';
import {loadSdk, type Sdk, type SdkClient} from './sdk.js';
import {normalise} from './transcript.js';

/** What a session script talks to: the real SDK client, and a book of what happened. */
export interface Session {
	readonly client: SdkClient;
	readonly sdk: Sdk;
	/** Notes how a call ended, result or error, under a name. */
	step(name: string, work: Promise<unknown>): Promise<void>;
	/** Notes something the client program saw. */
	note(name: string, value: unknown): void;
	/** Resolves when `count` messages of that method have come from the server. */
	seen(method: string, count?: number): Promise<void>;
}

export interface Script {
	readonly capabilities: object;
	/** Declares the handlers for what the server asks; runs before the client connects. */
	prepare?(session: Session): void;
	play(session: Session): Promise<void>;
}

export interface Recording {
	/** Everything the server sent, in order; how each step ended; the lines on stderr. */
	readonly received: readonly unknown[];
	readonly steps: readonly unknown[];
	readonly stderr: readonly string[];
	/** How many processes held the marker while the session was open, and which still do after it. */
	readonly processes: number;
	readonly survivors: readonly string[];
}

interface Waiter {
	readonly method: string;
	readonly count: number;
	readonly resolve: () => void;
}

/** Counts the messages of the server by method, and wakes who waits for one. */
class Arrivals {
	readonly messages: unknown[] = [];
	readonly #waiters = new Set<Waiter>();

	add(message: unknown): void {
		this.messages.push(message);
		for (const waiter of this.#waiters) {
			if (this.#count(waiter.method) >= waiter.count) {
				this.#waiters.delete(waiter);
				waiter.resolve();
			}
		}
	}

	async seen(method: string, count: number): Promise<void> {
		if (this.#count(method) < count) {
			await new Promise<void>(resolve => this.#waiters.add({method, count, resolve}));
		}
	}

	#count(method: string): number {
		return this.messages.filter(message => methodOf(message) === method).length;
	}
}

function methodOf(message: unknown): unknown {
	return typeof message === 'object' && message !== null ? Reflect.get(message, 'method') : undefined;
}

function describeError(error: unknown): unknown {
	if (!(error instanceof Error)) {
		return error;
	}

	return {
		name: error.name,
		message: error.message,
		code: Reflect.get(error, 'code'),
		data: Reflect.get(error, 'data'),
	};
}

/** Plays a script against a server with the real SDK client over its own stdio transport. */
export async function record(
	t: ExecutionContext,
	command: Command,
	script: Script,
	marker: string,
): Promise<Recording> {
	const sdk = await loadSdk();
	const client = new sdk.Client(
		{name: 'bridge-peer-tests', version: '1.0.0'},
		{capabilities: script.capabilities},
	);
	const transport = new sdk.StdioClientTransport({...command, stderr: 'pipe'});
	const arrivals = new Arrivals();
	const steps: Array<[string, unknown]> = [];
	const stderr: string[] = [];
	transport.stderr?.pipe(split2()).on('data', line => stderr.push(line));
	// The client calls a handler that was there before it connected, ahead of its own.
	transport.onmessage = message => arrivals.add(message);
	const session: Session = {
		client,
		sdk,
		async step(name, work) {
			const outcome = await work.then(
				result => ({result}),
				(error: unknown) => ({error: describeError(error)}),
			);
			steps.push([name, outcome]);
		},
		note: (name, value) => steps.push([name, value]),
		seen: (method, count = 1) => arrivals.seen(method, count),
	};
	script.prepare?.(session);
	t.teardown(() => client.close());
	await client.connect(transport);
	await script.play(session);
	// Messages keep their order, so after this answer nothing that the script caused is still on its way.
	await client.ping();
	const received = arrivals.messages.map(message => normalise(message, marker));
	const outcomes = steps.map(step => normalise(step, marker));
	const processes = (await processesWith(marker)).length;
	await client.close();
	const lines = stderr.map(line => String(normalise(line, marker)));
	return {received, steps: outcomes, stderr: lines, processes, survivors: await survivorsOf(marker)};
}

/** Compares item by item, to show the first that differs instead of a diff of two whole sessions. */
function sameList(t: ExecutionContext, actual: readonly unknown[], expected: readonly unknown[]): void {
	const at = expected.findIndex((item, index) => !isDeepStrictEqual(actual[index], item));
	if (at !== -1) {
		t.deepEqual(actual[at], expected[at], `item ${at} differs`);
	}

	t.is(at, -1);
	t.is(actual.length, expected.length);
}

/** One server and one script: where it runs, and what finds its processes. */
export interface Case {
	readonly server: Command;
	readonly script: Script;
	/** A text in the server's command line or environment that occurs nowhere else. */
	readonly marker: string;
}

/** Plays the same session directly and through bridge; each gets a case of its own, so that neither sees the other's files. */
export async function compare(t: ExecutionContext, prepare: () => Promise<Case>): Promise<void> {
	const [plain, wrapped] = await Promise.all([prepare(), prepare()]);
	const [direct, through] = await Promise.all([
		record(t, plain.server, plain.script, plain.marker),
		record(t, throughBridge(wrapped.server), wrapped.script, wrapped.marker),
	]);
	sameList(t, through.steps, direct.steps);
	sameList(t, through.received, direct.received);
	const unsaid = direct.stderr.filter(line => !through.stderr.includes(line));
	t.deepEqual(unsaid, [], 'stderr of the server is passed on');
	// Without these two the last two would hold for a marker that finds nothing. Whether bridge shows its own command line
	// is its own affair: it is the client's child, and the client waited for its end.
	t.is(direct.processes, 1);
	t.true(through.processes > 0, 'the server runs');
	t.deepEqual(direct.survivors, []);
	t.deepEqual(through.survivors, []);
}
