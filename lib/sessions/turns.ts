/** Who wants a turn. A summary is wanted by whoever ends the session. */
export type Source = 'client' | 'mail' | 'summary';

/** One turn of a session, by an id that is its own. */
export type Turn = {readonly id: string; readonly source: Source};

/** Why a running turn is told to stop. */
export type StopReason = 'cancelled' | 'timeout' | 'closed';

/** Why a turn is not run, or not to its end. */
export type RefusalReason = 'cancelled' | 'closed' | 'full' | 'gone';

/** The turns of one session: at most one runs, the others wait. Never changed in place. */
export type Turns = {
	readonly phase: 'open' | 'closing' | 'closed';
	readonly running: Turn | undefined;
	/** Why the running turn was told to stop, if it was. */
	readonly stopping: StopReason | undefined;
	/** The client's turns that wait, in the order in which they came. */
	readonly queue: readonly Turn[];
	/** Mail waits until no client does; one turn of it at most. */
	readonly mail: Turn | undefined;
	/** Whether a summary is to be asked for before the session is closed. */
	readonly wantsSummary: boolean;
	readonly limit: number;
};

export type TurnEvent =
	| {readonly type: 'ask'; readonly turn: Turn}
	/** A turn is over. `isConfirmed`: Codex says so. `isWell`: it did what it was asked to. */
	| {readonly type: 'ended'; readonly id: string; readonly isConfirmed: boolean; readonly isWell: boolean}
	| {readonly type: 'cancel'; readonly id: string}
	| {readonly type: 'timeout'; readonly id: string}
	/** Ends the session: a busy one is stopped and asked for a summary, an idle one only if `wantsSummary`. */
	| {readonly type: 'close'; readonly wantsSummary: boolean}
	/** There is no more time for closing. */
	| {readonly type: 'expired'}
	/** Codex is gone. */
	| {readonly type: 'gone'};

export type TurnAction =
	| {readonly type: 'start'; readonly turn: Turn}
	| {readonly type: 'stop'; readonly turn: Turn; readonly reason: StopReason}
	| {readonly type: 'refuse'; readonly turn: Turn; readonly reason: RefusalReason}
	| {readonly type: 'closed'; readonly how: 'closed' | 'interrupted'};

export type TurnStep = {readonly state: Turns; readonly actions: readonly TurnAction[]};

/** The turn in which a session tells what it is to be remembered by. */
export const SUMMARY: Turn = {id: 'summary', source: 'summary'};

const QUEUE_LIMIT = 32;

/** A session without turns yet. */
export const noTurns = (limit = QUEUE_LIMIT): Turns => ({
	phase: 'open',
	running: undefined,
	stopping: undefined,
	queue: [],
	mail: undefined,
	wantsSummary: false,
	limit,
});

/**
 * The one queue of commands of a session: close before cancel and timeout, those before the client's turns in their
 * order, these before mail. What is to be done is returned; nothing is done here.
 */
export function nextTurns(state: Turns, event: TurnEvent): TurnStep {
	switch (event.type) {
		case 'ask':
			return ask(state, event.turn);
		case 'ended':
			return event.id === state.running?.id ? ended(state, event.isConfirmed, event.isWell) : same(state);
		case 'cancel':
			return cancel(state, event.id);
		case 'timeout':
			return event.id === state.running?.id ? stop(state, 'timeout') : same(state);
		case 'close':
			return state.phase === 'open' ? close(state, event.wantsSummary) : same(state);
		case 'expired':
			return state.phase === 'closing' ? expired(state) : same(state);
		case 'gone':
			return gone(state);
	}
}

const same = (state: Turns): TurnStep => ({state, actions: []});

function ask(state: Turns, turn: Turn): TurnStep {
	if (state.phase !== 'open') return refused(state, turn, 'closed');
	if (!state.running) return {state: {...state, running: turn}, actions: [{type: 'start', turn}]};
	if (turn.source === 'mail') return state.mail ? refused(state, turn, 'full') : same({...state, mail: turn});
	if (state.queue.length >= state.limit) return refused(state, turn, 'full');
	return same({...state, queue: [...state.queue, turn]});
}

const refused = (state: Turns, turn: Turn, reason: RefusalReason): TurnStep => ({
	state,
	actions: [{type: 'refuse', turn, reason}],
});

function ended(state: Turns, isConfirmed: boolean, isWell: boolean): TurnStep {
	const free: Turns = {...state, running: undefined, stopping: undefined};
	if (state.phase === 'closing') {
		if (state.running?.source === 'summary') return closed(free, isWell ? 'closed' : 'interrupted');
		return isConfirmed && state.wantsSummary ? summarise(free) : closed(free, 'interrupted');
	}
	const [next, ...queue] = state.queue;
	if (next) return {state: {...free, running: next, queue}, actions: [{type: 'start', turn: next}]};
	if (!state.mail) return same(free);
	return {
		state: {...free, running: state.mail, mail: undefined},
		actions: [{type: 'start', turn: state.mail}],
	};
}

const summarise = (free: Turns): TurnStep => ({
	state: {...free, running: SUMMARY, wantsSummary: false},
	actions: [{type: 'start', turn: SUMMARY}],
});

const closed = (state: Turns, how: 'closed' | 'interrupted'): TurnStep => ({
	state: {...state, phase: 'closed', running: undefined, stopping: undefined},
	actions: [{type: 'closed', how}],
});

function cancel(state: Turns, id: string): TurnStep {
	if (state.running?.id === id) return stop(state, 'cancelled');
	const turn = state.mail?.id === id ? state.mail : state.queue.find(queued => queued.id === id);
	if (!turn) return same(state);
	const queue = state.queue.filter(queued => queued !== turn);
	return refused({...state, queue, mail: state.mail === turn ? undefined : state.mail}, turn, 'cancelled');
}

/** A turn is told to stop once: who asked first is who it is stopped for. */
function stop(state: Turns, reason: StopReason): TurnStep {
	const {running, stopping} = state;
	if (!running || stopping !== undefined) return same(state);
	return {state: {...state, stopping: reason}, actions: [{type: 'stop', turn: running, reason}]};
}

function close(state: Turns, wantsSummary: boolean): TurnStep {
	const frozen: Turns = {...state, phase: 'closing', queue: [], mail: undefined, wantsSummary: true};
	const refusals = waitingIn(state).map(turn => ({type: 'refuse', turn, reason: 'closed'}) as const);
	const {state: after, actions} = state.running
		? stop(frozen, 'closed')
		: wantsSummary
			? summarise(frozen)
			: closed(frozen, 'closed');
	return {state: after, actions: [...refusals, ...actions]};
}

function expired(state: Turns): TurnStep {
	const stopped = stop(state, 'closed').actions;
	const {state: after, actions} = closed(state, 'interrupted');
	return {state: after, actions: [...stopped, ...actions]};
}

function gone(state: Turns): TurnStep {
	if (state.phase === 'closed') return same(state);
	const turns = [...(state.running ? [state.running] : []), ...waitingIn(state)];
	const refusals = turns.map(turn => ({type: 'refuse', turn, reason: 'gone'}) as const);
	const {state: after, actions} = closed({...state, queue: [], mail: undefined}, 'interrupted');
	return {state: after, actions: [...refusals, ...actions]};
}

const waitingIn = ({queue, mail}: Turns): readonly Turn[] => (mail ? [...queue, mail] : queue);
