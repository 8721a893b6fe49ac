import {isDeepStrictEqual} from 'node:util';
import type {ExecutionContext} from 'ava';
import split2 from 'split2';
import {type Command, throughBridge} from './peers.js';
import {processesWith, survivorsOf} from './processes.js';
import {loadSdk, type Sdk, type SdkClient} from './sdk.js';
import {normalise} from './transcript.js';

/** The context of a session script: the real SDK client, and a record of the results. */
export interface Session {
	readonly client: SdkClient;
	readonly sdk: Sdk;
	/** Records the result or error of a call under a name. */
	step(name: string, work: Promise<unknown>): Promise<void>;
	/** Records a value that the client received. */
	note(name: string, value: unknown): void;
	/** Resolves when the server has sent `count` messages with that method. */
	seen(method: string, count?: number): Promise<void>;
}

export interface Script {
	readonly capabilities: object;
	/** Sets the handlers for server requests. Runs before the client connects. */
	prepare?(session: Session): void;
	play(session: Session): Promise<void>;
}

export interface Recording {
	/** The messages of the server in order, the result of each step, and the lines on stderr. */
	readonly received: readonly unknown[];
	readonly steps: readonly unknown[];
	readonly stderr: readonly string[];
	/** The number of processes with the marker during the session, and those left after it. */
	readonly processes: number;
	readonly survivors: readonly string[];
}

interface Waiter {
	readonly method: string;
	readonly count: number;
	readonly resolve: () => void;
}

/** Collects the messages of the server, and resolves pending waits by method. */
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

/** Plays a script against a server with the real SDK client over its stdio transport. */
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
	// The SDK calls a handler that was set before connect() ahead of its own.
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
	// Messages are ordered: after this response, all messages of the script have arrived.
	await client.ping();
	const received = arrivals.messages.map(message => normalise(message, marker));
	const outcomes = steps.map(step => normalise(step, marker));
	const processes = (await processesWith(marker)).length;
	await client.close();
	const lines = stderr.map(line => String(normalise(line, marker)));
	return {received, steps: outcomes, stderr: lines, processes, survivors: await survivorsOf(marker)};
}

/** Compares item by item, so that a failure shows the first difference instead of two whole sessions. */
function sameList(t: ExecutionContext, actual: readonly unknown[], expected: readonly unknown[]): void {
	const at = expected.findIndex((item, index) => !isDeepStrictEqual(actual[index], item));
	if (at !== -1) {
		t.deepEqual(actual[at], expected[at], `item ${at} differs`);
	}

	t.is(at, -1);
	t.is(actual.length, expected.length);
}

/** A server and a script. */
export interface Case {
	readonly server: Command;
	readonly script: Script;
	/** A unique text in the server's command line or environment. */
	readonly marker: string;
}

/**
 * Plays the same session directly and through bridge. Each has its own case, so that they do not share
 * files.
 */
export async function compare(t: ExecutionContext, prepare: () => Promise<Case>): Promise<void> {
	const [plain, wrapped] = await Promise.all([prepare(), prepare()]);
	const [direct, through] = await Promise.all([
		record(t, plain.server, plain.script, plain.marker),
		record(t, throughBridge(wrapped.server), wrapped.script, wrapped.marker),
	]);
	sameList(t, through.steps, direct.steps);
	sameList(t, through.received, direct.received);
	const missing = direct.stderr.filter(line => !through.stderr.includes(line));
	t.deepEqual(missing, [], 'forwards the stderr of the server');
	// Without these two checks, the last two would pass for a marker that matches nothing. The process of
	// bridge may match or not: it is the client's child, and the client waited for its exit.
	t.is(direct.processes, 1);
	t.true(through.processes > 0, 'the server runs');
	t.deepEqual(direct.survivors, []);
	t.deepEqual(through.survivors, []);
}
