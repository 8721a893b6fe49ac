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

/* H6: the rules of turns against a model that is a list of who waits, looked through anew at each event. */

const LIMIT = 3;

/** Who wants what, in the order in which they came; who is first by rank, and then by order, goes. */
class Model {
	readonly log: string[] = [];
	#waiting: Turn[] = [];
	#running: Turn | undefined;
	#isStopped = false;
	#isClosing = false;
	#isClosed = false;
	#summaryIsDue = false;

	hear(event: TurnQueueEvent): void {
		if (event.type === 'ask') this.#ask(event.turn);
		else if (event.type === 'ended') this.#ended(event.id, event.isConfirmed, event.isSuccessful);
		else if (event.type === 'cancel' || event.type === 'timeout') this.#stop(event.type, event.id);
		else if (event.type === 'close') this.#close(event.wantsSummary);
		else if (event.type === 'expired') this.#expire();
		else this.#die();
	}

	#ask(turn: Turn): void {
		const sameKind = this.#waiting.filter(({source}) => source === turn.source).length;
		if (this.#isClosing || this.#isClosed) this.log.push(`refuse:${turn.id}:closed`);
		else if (this.#running && sameKind >= (turn.source === 'mail' ? 1 : LIMIT))
			this.log.push(`refuse:${turn.id}:full`);
		else {
			this.#waiting.push(turn);
			this.#goOn();
		}
	}

	#goOn(): void {
		if (this.#running) return;
		const next = this.#waiting.find(({source}) => source === 'client') ?? this.#waiting[0];
		if (!next) return;
		this.#waiting = this.#waiting.filter(turn => turn !== next);
		this.#run(next);
	}

	#run(turn: Turn): void {
		this.#running = turn;
		this.#isStopped = false;
		this.log.push(`start:${turn.id}`);
	}

	#ended(id: string, isConfirmed: boolean, isSuccessful: boolean): void {
		const turn = this.#running;
		if (turn?.id !== id) return;
		this.#running = undefined;
		if (!this.#isClosing) this.#goOn();
		else if (turn.source !== 'summary' && this.#summaryIsDue && isConfirmed) this.#run(SUMMARY_TURN);
		else this.#end(turn.source === 'summary' && isSuccessful ? 'closed' : 'interrupted');
	}

	#stop(why: 'cancel' | 'timeout', id: string): void {
		if (this.#running?.id === id && !this.#isStopped) {
			this.#isStopped = true;
			this.log.push(`stop:${id}:${why === 'cancel' ? 'cancelled' : why}`);
		} else if (why === 'cancel' && this.#waiting.some(turn => turn.id === id)) {
			this.#waiting = this.#waiting.filter(turn => turn.id !== id);
			this.log.push(`refuse:${id}:cancelled`);
		}
	}

	#close(wantsSummary: boolean): void {
		if (this.#isClosing || this.#isClosed) return;
		this.#isClosing = true;
		this.#summaryIsDue = true;
		this.#refuseWaiting('closed');
		if (this.#running && !this.#isStopped) {
			this.#isStopped = true;
			this.log.push(`stop:${this.#running.id}:closed`);
		} else if (!this.#running && wantsSummary) this.#run(SUMMARY_TURN);
		else if (!this.#running) this.#end('closed');
	}

	#expire(): void {
		if (!this.#isClosing) return;
		if (this.#running && !this.#isStopped) this.log.push(`stop:${this.#running.id}:closed`);
		this.#end('interrupted');
	}

	#die(): void {
		if (this.#isClosed) return;
		if (this.#running) this.log.push(`refuse:${this.#running.id}:gone`);
		this.#refuseWaiting('gone');
		this.#end('interrupted');
	}

	#refuseWaiting(why: string): void {
		const inOrder = [
			...this.#waiting.filter(({source}) => source === 'client'),
			...this.#waiting.filter(({source}) => source === 'mail'),
		];
		for (const {id} of inOrder) this.log.push(`refuse:${id}:${why}`);
		this.#waiting = [];
	}

	#end(how: string): void {
		this.#running = undefined;
		this.#isClosing = false;
		this.#isClosed = true;
		this.log.push(`closed:${how}`);
	}
}

const told = (action: TurnQueueAction): string =>
	action.type === 'closed'
		? `closed:${action.ending}`
		: `${action.type}:${action.turn.id}${'reason' in action ? `:${action.reason}` : ''}`;

/** Ids are few, so that events meet turns that exist; each is asked for once, as ids of requests are. */
const anId = fc.integer({min: 0, max: 25}).map(String);
type Given = TurnQueueEvent | 'ask client' | 'ask mail' | 'end running';
const anEvent: fc.Arbitrary<Given> = fc.oneof(
	{weight: 6, arbitrary: fc.constantFrom('ask client' as const, 'ask client' as const, 'ask mail' as const)},
	{weight: 5, arbitrary: fc.constant('end running' as const)},
	{weight: 2, arbitrary: fc.record({type: fc.constantFrom('cancel' as const, 'timeout' as const), id: anId})},
	{
		weight: 2,
		arbitrary: fc.record({
			type: fc.constant('ended' as const),
			id: fc.oneof(anId, fc.constant(SUMMARY_TURN.id)),
			isConfirmed: fc.boolean(),
			isSuccessful: fc.boolean(),
		}),
	},
	{weight: 1, arbitrary: fc.record({type: fc.constant('close' as const), wantsSummary: fc.boolean()})},
	{weight: 1, arbitrary: fc.constantFrom({type: 'expired'} as const, {type: 'gone'} as const)},
);

/** Who is there to be told of an event, and who is to do what the model does. */
class Trial {
	readonly log: string[] = [];
	readonly model = new Model();
	readonly #open = new Set<string>();
	#state = emptyTurnQueue(LIMIT);
	#ids = 0;

	meant(given: Given): TurnQueueEvent {
		if (given === 'ask client' || given === 'ask mail')
			return {type: 'ask', turn: {id: String(this.#ids++), source: given === 'ask mail' ? 'mail' : 'client'}};
		if (given !== 'end running') return given;
		return {type: 'ended', id: this.#state.running?.id ?? 'none', isConfirmed: true, isSuccessful: true};
	}

	hear(event: TurnQueueEvent): void {
		if (event.type === 'ended') this.#open.delete(event.id);
		const {state, actions} = advanceTurnQueue(this.#state, event);
		this.#state = state;
		this.model.hear(event);
		for (const action of actions) {
			this.log.push(told(action));
			if (action.type === 'start') this.#open.add(action.turn.id);
			if (action.type === 'closed') this.#open.clear();
		}
		if (this.#open.size > 1) throw new Error(`${[...this.#open]} run at once`);
		if (state.queue.length > LIMIT) throw new Error('the queue has no limit');
	}
}

test('whatever happens in whatever order, the rules do what the model does, and one turn runs at a time [H6] [FR-17.11]', t => {
	const property = fc.property(fc.array(anEvent, {maxLength: 60}), events => {
		const trial = new Trial();
		for (const given of events) trial.hear(trial.meant(given));
		return trial.log.join() === trial.model.log.join();
	});
	t.notThrows(() => fc.assert(property, {numRuns: 3000}));
});
