import {MAX_WORD} from '../awaited-progress.js';
import {BoundedMap} from '../bounded-map.js';
import {change} from '../change.js';
import {Envelope, type Origin} from '../envelope.js';
import {type JsonObject, listOf, objectOf, worded} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {WordMap} from '../word-map.js';
import {cancelledId} from './call-table.js';
import {toolName} from './wrapped-tools.js';

const MAX_REMEMBERED = 65_536;
/** Characters of the ids, or of the names of tools, that are remembered. */
const MAX_CHARACTERS = 8 * 2 ** 20;
/** How long a server is to keep the result of a task. */
const TTL_MS = 300_000;
/** How often a task is asked after, where the server does not say. */
const POLL_MS = 1000;
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 60_000;

/** A call that runs as a task, of which its client knows nothing. */
type Job = {
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
export function pollTasks(session: Session): Stage {
	return stage(out => new TaskPoller(session, out));
}

class TaskPoller implements Steps {
	readonly #session: Session;
	readonly #out: Outlets;
	/** Tools that run as a task or not at all. */
	readonly #required = new WordMap<true>(MAX_REMEMBERED, MAX_CHARACTERS);
	/** Keys of requests for the list of tools, and of `initialize`. */
	readonly #lists = new WordMap<string>(MAX_REMEMBERED);
	/** Calls by the keys of whatever the server is to answer next for them. */
	readonly #jobs = new WordMap<Job>(MAX_REMEMBERED, MAX_CHARACTERS, ({id}) => id.length);
	/** Keys of requests whose answers are for nobody. */
	readonly #ignored = new BoundedMap<string, true>(MAX_REMEMBERED);
	readonly #timers = new Set<NodeJS.Timeout>();
	#done: (() => void) | undefined;

	constructor(session: Session, out: Outlets) {
		this.#session = session;
		this.#out = out;
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		const {id, key, method} = envelope.head;
		if (method === 'notifications/cancelled') return this.#cancelled(envelope);
		if (id === undefined || key === undefined) return envelope;
		if (method === 'initialize' || method === 'tools/list') this.#lists.set(key, method);
		if (method !== 'tools/call' || !this.#session.needsPolling) return envelope;
		if (!this.#required.has(toolName(objectOf(envelope.body.params).name) ?? '')) return envelope;
		this.#jobs.set(key, {id, key, taskId: undefined, pollMs: POLL_MS, timer: undefined, isCancelled: false});
		return change(envelope, body => ({...body, params: {...objectOf(body.params), task: {ttl: TTL_MS}}}));
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method} = envelope.head;
		if (method !== undefined || key === undefined) return envelope;
		if (this.#ignored.take(key)) return;
		const list = this.#lists.take(key);
		if (list !== undefined) this.#learn(list, objectOf(envelope.body.result));
		const job = this.#jobs.take(key);
		const onward = job ? this.#proceed(job, envelope) : envelope;
		this.#letGo();
		return onward;
	};

	readonly upstreamGone = (): void => this.#stop();
	readonly stopped = (): void => this.#stop();

	/** A client that says no more may still wait for what it called. */
	readonly clientDone = (done: () => void): void => {
		this.#done = done;
		this.#letGo();
	};

	#letGo(): void {
		if (this.#jobs.size > 0) return;
		this.#done?.();
		this.#done = undefined;
	}

	#learn(list: string, result: JsonObject): void {
		if (list === 'initialize') {
			const {tasks} = objectOf(result.capabilities);
			this.#session.tasksOffered('call' in objectOf(objectOf(objectOf(tasks).requests).tools));
			return;
		}
		for (const {name: given, execution} of listOf(result.tools).map(objectOf)) {
			const name = toolName(given) ?? '';
			const isRequired = objectOf(execution).taskSupport === 'required';
			if (isRequired && name !== '') this.#required.set(name, true);
			else this.#required.delete(name);
		}
	}

	#proceed(job: Job, envelope: Envelope): Envelope | undefined {
		const result = objectOf(envelope.body.result);
		const isCreated = job.taskId === undefined && 'task' in result;
		const task = isCreated ? objectOf(result.task) : result;
		const isState = 'taskId' in task && 'status' in task;
		if (!isState) return envelope.head.id === job.id ? envelope : envelope.withId(job.id);
		if (worded(task.taskId).length > MAX_WORD) return longTask(job.id, envelope.origin);
		job.taskId = task.taskId;
		if (typeof task.pollInterval === 'number')
			job.pollMs = Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, task.pollInterval));
		if (job.isCancelled) this.#stopTask(job);
		else if (!isCreated && fetchable.includes(task.status)) this.#ask(job, 'tasks/result');
		else this.#later(job);
		return;
	}

	#later(job: Job): void {
		const timer = setTimeout(() => {
			this.#timers.delete(timer);
			this.#ask(job, 'tasks/get');
		}, job.pollMs).unref();
		job.timer = timer;
		this.#timers.add(timer);
		this.#jobs.set(job.id, job);
	}

	#ask(job: Job, method: string): void {
		const id = this.#session.ownId();
		this.#jobs.delete(job.id);
		this.#jobs.set(JSON.stringify(id), job);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method, params: {taskId: job.taskId}}));
	}

	/** The client gives a call up: the task behind it is stopped, if it is there yet. */
	#cancelled(envelope: Envelope): Envelope | undefined {
		const id = cancelledId(envelope);
		const [key, job] = (id !== undefined && this.#find(canonicalId(id))) || [];
		if (key === undefined || !job) return envelope;
		job.isCancelled = true;
		if (job.taskId === undefined) return envelope;
		this.#jobs.delete(key);
		clearTimeout(job.timer);
		if (job.timer) this.#timers.delete(job.timer);
		this.#stopTask(job);
		return;
	}

	/** The call with this key of its client, with the key that it is kept under now. */
	#find(key: string): readonly [string, Job] | undefined {
		for (const entry of this.#jobs) if (entry[1].key === key) return entry;
		return;
	}

	#stopTask({taskId}: Job): void {
		const id = this.#session.ownId();
		this.#ignored.set(JSON.stringify(id), true);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'tasks/cancel', params: {taskId}}));
	}

	#stop(): void {
		for (const timer of this.#timers) clearTimeout(timer);
		this.#timers.clear();
		this.#jobs.clear();
		this.#letGo();
	}
}

/** The response to a call whose task cannot be kept. */
const longTask = (id: string, origin: Origin): Envelope => {
	const message = `The server created a task whose id has more than ${MAX_WORD} characters.`;
	return Envelope.answer(id, 'error', {code: -32603, message}, origin);
};
