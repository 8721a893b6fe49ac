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
/** Characters of the ids, or of the names of tools, that are remembered. */
const MAX_CHARACTERS = 8 * 2 ** 20;
/** How long a server is to keep the result of a task. */
const TTL_MS = 300_000;
/** How often a task is asked after, where the server does not say. */
const POLL_MS = 1000;
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 60_000;

/** A call that runs as a task, of which its client knows nothing. */
type TaskCall = {
	readonly id: string;
	readonly key: string;
	taskId: unknown;
	pollMs: number;
	timer: NodeJS.Timeout | undefined;
	/** Whether nobody waits for it any more, though the task was not there yet to be stopped. */
	isCancelled: boolean;
};

/** States in which there is a result to fetch, or a question that comes with fetching it. */
const fetchable: readonly unknown[] = ['completed', 'failed', 'cancelled', 'input_required'];

/**
 * Lets clients from before there were tasks call tools that only run as one: the task is made, asked after and its
 * result fetched here, and the client sees one call with one answer.
 */
export function pollTasks(negotiation: Negotiation): Stage {
	return stage(out => new TaskPoller(negotiation, out));
}

class TaskPoller implements StageSteps {
	readonly #negotiation: Negotiation;
	readonly #out: StageOutputs;
	/** Tools that run as a task or not at all. */
	readonly #taskOnlyTools = new BoundedStringMap<true>(MAX_ENTRIES, MAX_CHARACTERS);
	/** Keys of requests for the list of tools, and of `initialize`. */
	readonly #pendingLists = new BoundedStringMap<string>(MAX_ENTRIES);
	/** Calls by the keys of whatever the server is to answer next for them. */
	readonly #calls = new BoundedStringMap<TaskCall>(MAX_ENTRIES, MAX_CHARACTERS, ({id}) => id.length);
	/** Keys of requests whose answers are for nobody. */
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
		if (method === 'initialize' || method === 'tools/list') this.#pendingLists.set(key, method);
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
		const list = this.#pendingLists.take(key);
		if (list !== undefined) this.#readCapabilities(list, objectOf(envelope.body.result));
		const call = this.#calls.take(key);
		const forwarded = call ? this.#proceed(call, envelope) : envelope;
		this.#reportIfIdle();
		return forwarded;
	};

	readonly upstreamClosed = (): void => this.#stop();
	readonly teardown = (): void => this.#stop();

	/** A client that says no more may still wait for what it called. */
	readonly clientEnded = (done: () => void): void => {
		this.#onFlushed = done;
		this.#reportIfIdle();
	};

	#reportIfIdle(): void {
		if (this.#calls.size > 0) return;
		this.#onFlushed?.();
		this.#onFlushed = undefined;
	}

	#readCapabilities(list: string, result: JsonObject): void {
		if (list === 'initialize') {
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

	/** The client gives a call up: the task behind it is stopped, if it is there yet. */
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

	/** The call with this key of its client, with the key that it is kept under now. */
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

/** The response to a call whose task cannot be kept. */
const taskIdTooLong = (id: string, origin: MessageOrigin): Envelope => {
	const message = `The server created a task whose id has more than ${MAX_IDENTIFIER_LENGTH} characters.`;
	return Envelope.response(id, 'error', {code: -32603, message}, origin);
};
