import test from 'ava';
import fc from 'fast-check';
import {
	advanceTurnQueue,
	emptyTurnQueue,
	SUMMARY_TURN,
	type Turn,
	type TurnQueueAction,
	type TurnQueueEvent,
} from '../../../lib/serve/sessions/turn-queue.js';

/* H6: compares the queue with a simple model, one list of waiting turns that is searched for each event. */

const LIMIT = 3;

class Model {
	readonly log: string[] = [];
	/** In order of arrival. Turns of clients start before those for mail. */
	#waiting: Turn[] = [];
	#running: Turn | undefined;
	#isStopped = false;
	#isClosing = false;
	#isClosed = false;
	#isSummaryDue = false;

	apply(event: TurnQueueEvent): void {
		if (event.type === 'submit') this.#submit(event.turn);
		else if (event.type === 'ended') this.#endTurn(event.id, event.isConfirmed, event.isSuccessful);
		else if (event.type === 'cancel' || event.type === 'timeout') this.#stop(event.type, event.id);
		else if (event.type === 'close') this.#close(event.wantsSummary);
		else if (event.type === 'expired') this.#expire();
		else this.#exit();
	}

	#submit(turn: Turn): void {
		const sameKind = this.#waiting.filter(({source}) => source === turn.source).length;
		if (this.#isClosing || this.#isClosed) this.log.push(`reject:${turn.id}:closed`);
		else if (this.#running && sameKind >= (turn.source === 'mail' ? 1 : LIMIT))
			this.log.push(`reject:${turn.id}:full`);
		else {
			this.#waiting.push(turn);
			this.#startNext();
		}
	}

	#startNext(): void {
		if (this.#running) return;
		const next = this.#waiting.find(({source}) => source === 'client') ?? this.#waiting[0];
		if (!next) return;
		this.#waiting = this.#waiting.filter(turn => turn !== next);
		this.#start(next);
	}

	#start(turn: Turn): void {
		this.#running = turn;
		this.#isStopped = false;
		this.log.push(`start:${turn.id}`);
	}

	#endTurn(id: string, isConfirmed: boolean, isSuccessful: boolean): void {
		const turn = this.#running;
		if (turn?.id !== id) return;
		this.#running = undefined;
		if (!this.#isClosing) this.#startNext();
		else if (turn.source !== 'summary' && this.#isSummaryDue && isConfirmed) this.#start(SUMMARY_TURN);
		else this.#closeAs(turn.source === 'summary' && isSuccessful ? 'closed' : 'interrupted');
	}

	#stop(reason: 'cancel' | 'timeout', id: string): void {
		if (this.#running?.id === id && !this.#isStopped) {
			this.#isStopped = true;
			this.log.push(`stop:${id}:${reason === 'cancel' ? 'cancelled' : reason}`);
		} else if (reason === 'cancel' && this.#waiting.some(turn => turn.id === id)) {
			this.#waiting = this.#waiting.filter(turn => turn.id !== id);
			this.log.push(`reject:${id}:cancelled`);
		}
	}

	#close(wantsSummary: boolean): void {
		if (this.#isClosing || this.#isClosed) return;
		this.#isClosing = true;
		this.#isSummaryDue = true;
		this.#rejectWaiting('closed');
		if (this.#running && !this.#isStopped) {
			this.#isStopped = true;
			this.log.push(`stop:${this.#running.id}:closed`);
		} else if (!this.#running && wantsSummary) this.#start(SUMMARY_TURN);
		else if (!this.#running) this.#closeAs('closed');
	}

	#expire(): void {
		if (!this.#isClosing) return;
		if (this.#running && !this.#isStopped) this.log.push(`stop:${this.#running.id}:closed`);
		this.#closeAs('interrupted');
	}

	#exit(): void {
		if (this.#isClosed) return;
		if (this.#running) this.log.push(`reject:${this.#running.id}:gone`);
		this.#rejectWaiting('gone');
		this.#closeAs('interrupted');
	}

	#rejectWaiting(reason: string): void {
		const inOrder = [
			...this.#waiting.filter(({source}) => source === 'client'),
			...this.#waiting.filter(({source}) => source === 'mail'),
		];
		for (const {id} of inOrder) this.log.push(`reject:${id}:${reason}`);
		this.#waiting = [];
	}

	#closeAs(ending: string): void {
		this.#running = undefined;
		this.#isClosing = false;
		this.#isClosed = true;
		this.log.push(`closed:${ending}`);
	}
}

const describe = (action: TurnQueueAction): string =>
	action.type === 'closed'
		? `closed:${action.ending}`
		: `${action.type}:${action.turn.id}${'reason' in action ? `:${action.reason}` : ''}`;

/** A small range, so that events often match existing turns. */
const turnId = fc.integer({min: 0, max: 25}).map(String);
type Step = TurnQueueEvent | 'submit client' | 'submit mail' | 'end running';
const step: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.constantFrom('submit client' as const, 'submit client' as const, 'submit mail' as const),
	},
	{weight: 5, arbitrary: fc.constant('end running' as const)},
	{
		weight: 2,
		arbitrary: fc.record({type: fc.constantFrom('cancel' as const, 'timeout' as const), id: turnId}),
	},
	{
		weight: 2,
		arbitrary: fc.record({
			type: fc.constant('ended' as const),
			id: fc.oneof(turnId, fc.constant(SUMMARY_TURN.id)),
			isConfirmed: fc.boolean(),
			isSuccessful: fc.boolean(),
		}),
	},
	{weight: 1, arbitrary: fc.record({type: fc.constant('close' as const), wantsSummary: fc.boolean()})},
	{weight: 1, arbitrary: fc.constantFrom({type: 'expired'} as const, {type: 'codex_exited'} as const)},
);

/** Applies the same events to the queue and to the model. */
class Trial {
	readonly log: string[] = [];
	readonly model = new Model();
	readonly #running = new Set<string>();
	#state = emptyTurnQueue(LIMIT);
	#nextId = 0;

	/** Returns the event of a step. Each submitted turn gets a new id, like a request. */
	eventOf(each: Step): TurnQueueEvent {
		if (each === 'submit client' || each === 'submit mail') {
			const source = each === 'submit mail' ? 'mail' : 'client';
			return {type: 'submit', turn: {id: String(this.#nextId++), source}};
		}
		if (each !== 'end running') return each;
		return {type: 'ended', id: this.#state.running?.id ?? 'none', isConfirmed: true, isSuccessful: true};
	}

	apply(event: TurnQueueEvent): void {
		if (event.type === 'ended') this.#running.delete(event.id);
		const {state, actions} = advanceTurnQueue(this.#state, event);
		this.#state = state;
		this.model.apply(event);
		for (const action of actions) {
			this.log.push(describe(action));
			if (action.type === 'start') this.#running.add(action.turn.id);
			if (action.type === 'closed') this.#running.clear();
		}
		if (this.#running.size > 1) throw new Error(`Turns ${[...this.#running]} run concurrently.`);
		if (state.queue.length > LIMIT) throw new Error('The queue exceeds its limit.');
	}
}

test('matches the model and runs one turn at a time for any sequence of events [H6] [FR-17.11]', t => {
	const property = fc.property(fc.array(step, {maxLength: 60}), steps => {
		const trial = new Trial();
		for (const each of steps) trial.apply(trial.eventOf(each));
		return trial.log.join() === trial.model.log.join();
	});
	t.notThrows(() => fc.assert(property, {numRuns: 3000}));
});
