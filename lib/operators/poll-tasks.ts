import {editMessage} from '../core/edit-message.js';
import {Envelope, type MessageOrigin} from '../core/envelope.js';
import {cancelledRequestId} from '../core/requests/call-table.js';
import {MAX_IDENTIFIER_LENGTH} from '../core/requests/progress.js';
import {type Stage, type StageOutputs, type StageSteps, stage} from '../core/stage.js';
import type {Negotiation} from '../protocol/negotiation.js';
import {BoundedMap} from '../util/bounded-map.js';
import {BoundedStringMap} from '../util/bounded-string-map.js';
import {type JsonObject, listOf, objectOf, toText} from '../util/json.js';
import {canonicalId} from '../wire/id.js';
import {storableToolName} from './stateless-upstream/wrapped-tools.js';

const MAX_ENTRIES = 65_536;
/** Characters of the stored ids, and of the stored tool names. */
const MAX_CHARACTERS = 8 * 2 ** 20;
/** Time for which the upstream should keep a result. */
const TTL_MS = 300_000;
/** Poll interval if the upstream does not specify one. */
const POLL_MS = 1000;
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 60_000;

/** A call that bridge runs as a task. Its client sees a plain call. */
type TaskCall = {
	readonly id: string;
	readonly key: string;
	taskId: unknown;
	pollMs: number;
	timer: NodeJS.Timeout | undefined;
	/** Whether the client cancelled the call before its task was created. */
	isCancelled: boolean;
};

/** States in which tasks/result returns the result or triggers the server request for input. */
const fetchable: readonly unknown[] = ['completed', 'failed', 'cancelled', 'input_required'];

/**
 * Lets clients without task support call tools that only run as a task. The stage creates and polls the task
 * and fetches its result, so that the client sees one call with one response.
 */
export function pollTasks(negotiation: Negotiation): Stage {
	return stage(out => new TaskPoller(negotiation, out));
}

class TaskPoller implements StageSteps {
	readonly #negotiation: Negotiation;
	readonly #out: StageOutputs;
	readonly #taskOnlyTools = new BoundedStringMap<true>(MAX_ENTRIES, MAX_CHARACTERS);
	/** Methods of pending `tools/list` and `initialize` requests, by key. */
	readonly #pendingObserved = new BoundedStringMap<string>(MAX_ENTRIES);
	/** Calls by the key of their pending upstream request. */
	readonly #calls = new BoundedStringMap<TaskCall>(MAX_ENTRIES, MAX_CHARACTERS, ({id}) => id.length);
	/** Keys of requests whose responses are ignored. */
	readonly #ignored = new BoundedMap<string, true>(MAX_ENTRIES);
	readonly #timers = new Set<NodeJS.Timeout>();
	#onFlushed: (() => void) | undefined;

	constructor(negotiation: Negotiation, out: StageOutputs) {
		this.#negotiation = negotiation;
		this.#out = out;
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		const {id, key, method} = envelope.head;
		if (method === 'notifications/cancelled') return this.#handleCancelled(envelope);
		if (id === undefined || key === undefined) return envelope;
		if (method === 'initialize' || method === 'tools/list') this.#pendingObserved.set(key, method);
		if (method !== 'tools/call' || !this.#negotiation.needsPolling) return envelope;
		if (!this.#taskOnlyTools.has(storableToolName(objectOf(envelope.body.params).name) ?? ''))
			return envelope;
		this.#calls.set(key, {id, key, taskId: undefined, pollMs: POLL_MS, timer: undefined, isCancelled: false});
		return editMessage(envelope, body => ({
			...body,
			params: {...objectOf(body.params), task: {ttl: TTL_MS}},
		}));
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method} = envelope.head;
		if (method !== undefined || key === undefined) return envelope;
		if (this.#ignored.take(key)) return;
		const observed = this.#pendingObserved.take(key);
		if (observed !== undefined) this.#observeResult(observed, objectOf(envelope.body.result));
		const call = this.#calls.take(key);
		const forwarded = call ? this.#proceed(call, envelope) : envelope;
		this.#reportIfIdle();
		return forwarded;
	};

	readonly upstreamClosed = (): void => this.#stop();
	readonly teardown = (): void => this.#stop();

	/** Delays the end of the client until its calls have a response. */
	readonly clientEnded = (done: () => void): void => {
		this.#onFlushed = done;
		this.#reportIfIdle();
	};

	#reportIfIdle(): void {
		if (this.#calls.size > 0) return;
		this.#onFlushed?.();
		this.#onFlushed = undefined;
	}

	#observeResult(method: string, result: JsonObject): void {
		if (method === 'initialize') {
			const {tasks} = objectOf(result.capabilities);
			this.#negotiation.setTasksOffered('call' in objectOf(objectOf(objectOf(tasks).requests).tools));
			return;
		}
		for (const {name: rawName, execution} of listOf(result.tools).map(objectOf)) {
			const name = storableToolName(rawName) ?? '';
			const isRequired = objectOf(execution).taskSupport === 'required';
			if (isRequired && name !== '') this.#taskOnlyTools.set(name, true);
			else this.#taskOnlyTools.delete(name);
		}
	}

	#proceed(call: TaskCall, envelope: Envelope): Envelope | undefined {
		const result = objectOf(envelope.body.result);
		const isCreated = call.taskId === undefined && 'task' in result;
		const task = isCreated ? objectOf(result.task) : result;
		const isState = 'taskId' in task && 'status' in task;
		if (!isState) return envelope.head.id === call.id ? envelope : envelope.withId(call.id);
		if (toText(task.taskId).length > MAX_IDENTIFIER_LENGTH) return taskIdTooLong(call.id, envelope.origin);
		call.taskId = task.taskId;
		if (typeof task.pollInterval === 'number')
			call.pollMs = Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, task.pollInterval));
		if (call.isCancelled) this.#stopTask(call);
		else if (!isCreated && fetchable.includes(task.status)) this.#request(call, 'tasks/result');
		else this.#schedulePoll(call);
		return;
	}

	#schedulePoll(call: TaskCall): void {
		const timer = setTimeout(() => {
			this.#timers.delete(timer);
			this.#request(call, 'tasks/get');
		}, call.pollMs).unref();
		call.timer = timer;
		this.#timers.add(timer);
		this.#calls.set(call.id, call);
	}

	#request(call: TaskCall, method: string): void {
		const id = this.#negotiation.nextRequestId();
		this.#calls.delete(call.id);
		this.#calls.set(JSON.stringify(id), call);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method, params: {taskId: call.taskId}}));
	}

	/** Cancels the task of a cancelled call, if it was created already. */
	#handleCancelled(envelope: Envelope): Envelope | undefined {
		const id = cancelledRequestId(envelope);
		const [key, call] = (id !== undefined && this.#find(canonicalId(id))) || [];
		if (key === undefined || !call) return envelope;
		call.isCancelled = true;
		if (call.taskId === undefined) return envelope;
		this.#calls.delete(key);
		clearTimeout(call.timer);
		if (call.timer) this.#timers.delete(call.timer);
		this.#stopTask(call);
		return;
	}

	/** The call with this key of its client, with its current key in `#calls`. */
	#find(key: string): readonly [string, TaskCall] | undefined {
		for (const entry of this.#calls) if (entry[1].key === key) return entry;
		return;
	}

	#stopTask({taskId}: TaskCall): void {
		const id = this.#negotiation.nextRequestId();
		this.#ignored.set(JSON.stringify(id), true);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'tasks/cancel', params: {taskId}}));
	}

	#stop(): void {
		for (const timer of this.#timers) clearTimeout(timer);
		this.#timers.clear();
		this.#calls.clear();
		this.#reportIfIdle();
	}
}

const taskIdTooLong = (id: string, origin: MessageOrigin): Envelope => {
	const message = `The server created a task whose id has more than ${MAX_IDENTIFIER_LENGTH} characters.`;
	return Envelope.response(id, 'error', {code: -32603, message}, origin);
};
