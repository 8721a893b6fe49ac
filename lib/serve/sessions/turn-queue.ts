/** Who wants a turn. A summary is wanted by whoever ends the session. */
export type TurnSource = 'client' | 'mail' | 'summary';

/** One turn of a session, by an id that is its own. */
export type Turn = {readonly id: string; readonly source: TurnSource};

/** Why a running turn is told to stop. */
export type TurnStopReason = 'cancelled' | 'timeout' | 'closed';

/** Why a turn is not run, or not to its end. */
export type TurnRejectionReason = 'cancelled' | 'closed' | 'full' | 'gone';

/** The turns of one session: at most one runs, the others wait. Never changed in place. */
export type TurnQueue = {
	readonly phase: 'open' | 'closing' | 'closed';
	readonly running: Turn | undefined;
	/** Why the running turn was told to stop, if it was. */
	readonly stopReason: TurnStopReason | undefined;
	/** The client's turns that wait, in the order in which they came. */
	readonly queue: readonly Turn[];
	/** Mail waits until no client does; one turn of it at most. */
	readonly queuedMail: Turn | undefined;
	/** Whether a summary is to be asked for before the session is closed. */
	readonly wantsSummary: boolean;
	readonly limit: number;
};

export type TurnQueueEvent =
	| {readonly type: 'ask'; readonly turn: Turn}
	/** A turn is over. `isConfirmed`: Codex says so. `isWell`: it did what it was asked to. */
	| {
			readonly type: 'ended';
			readonly id: string;
			readonly isConfirmed: boolean;
			readonly isSuccessful: boolean;
	  }
	| {readonly type: 'cancel'; readonly id: string}
	| {readonly type: 'timeout'; readonly id: string}
	/** Ends the session: a busy one is stopped and asked for a summary, an idle one only if `wantsSummary`. */
	| {readonly type: 'close'; readonly wantsSummary: boolean}
	/** There is no more time for closing. */
	| {readonly type: 'expired'}
	/** Codex is gone. */
	| {readonly type: 'gone'};

export type TurnQueueAction =
	| {readonly type: 'start'; readonly turn: Turn}
	| {readonly type: 'stop'; readonly turn: Turn; readonly reason: TurnStopReason}
	| {readonly type: 'refuse'; readonly turn: Turn; readonly reason: TurnRejectionReason}
	| {readonly type: 'closed'; readonly ending: 'closed' | 'interrupted'};

type TurnQueueTransition = {readonly state: TurnQueue; readonly actions: readonly TurnQueueAction[]};

/** The turn in which a session tells what it is to be remembered by. */
export const SUMMARY_TURN: Turn = {id: 'summary', source: 'summary'};

const QUEUE_LIMIT = 32;

/** A session without turns yet. */
export const emptyTurnQueue = (limit = QUEUE_LIMIT): TurnQueue => ({
	phase: 'open',
	running: undefined,
	stopReason: undefined,
	queue: [],
	queuedMail: undefined,
	wantsSummary: false,
	limit,
});

/**
 * The one queue of commands of a session: close before cancel and timeout, those before the client's turns in their
 * order, these before mail. What is to be done is returned; nothing is done here.
 */
export function advanceTurnQueue(state: TurnQueue, event: TurnQueueEvent): TurnQueueTransition {
	switch (event.type) {
		case 'ask':
			return enqueue(state, event.turn);
		case 'ended':
			return event.id === state.running?.id
				? endTurn(state, event.isConfirmed, event.isSuccessful)
				: unchanged(state);
		case 'cancel':
			return cancelTurn(state, event.id);
		case 'timeout':
			return event.id === state.running?.id ? stopRunning(state, 'timeout') : unchanged(state);
		case 'close':
			return state.phase === 'open' ? beginClose(state, event.wantsSummary) : unchanged(state);
		case 'expired':
			return state.phase === 'closing' ? expireClose(state) : unchanged(state);
		case 'gone':
			return endOnCodexExit(state);
	}
}

const unchanged = (state: TurnQueue): TurnQueueTransition => ({state, actions: []});

function enqueue(state: TurnQueue, turn: Turn): TurnQueueTransition {
	if (state.phase !== 'open') return rejectTurn(state, turn, 'closed');
	if (!state.running) return {state: {...state, running: turn}, actions: [{type: 'start', turn}]};
	if (turn.source === 'mail')
		return state.queuedMail ? rejectTurn(state, turn, 'full') : unchanged({...state, queuedMail: turn});
	if (state.queue.length >= state.limit) return rejectTurn(state, turn, 'full');
	return unchanged({...state, queue: [...state.queue, turn]});
}

const rejectTurn = (state: TurnQueue, turn: Turn, reason: TurnRejectionReason): TurnQueueTransition => ({
	state,
	actions: [{type: 'refuse', turn, reason}],
});

function endTurn(state: TurnQueue, isConfirmed: boolean, isSuccessful: boolean): TurnQueueTransition {
	const idle: TurnQueue = {...state, running: undefined, stopReason: undefined};
	if (state.phase === 'closing') {
		if (state.running?.source === 'summary') return closeQueue(idle, isSuccessful ? 'closed' : 'interrupted');
		return isConfirmed && state.wantsSummary ? startSummary(idle) : closeQueue(idle, 'interrupted');
	}
	const [next, ...queue] = state.queue;
	if (next) return {state: {...idle, running: next, queue}, actions: [{type: 'start', turn: next}]};
	if (!state.queuedMail) return unchanged(idle);
	return {
		state: {...idle, running: state.queuedMail, queuedMail: undefined},
		actions: [{type: 'start', turn: state.queuedMail}],
	};
}

const startSummary = (idle: TurnQueue): TurnQueueTransition => ({
	state: {...idle, running: SUMMARY_TURN, wantsSummary: false},
	actions: [{type: 'start', turn: SUMMARY_TURN}],
});

const closeQueue = (state: TurnQueue, ending: 'closed' | 'interrupted'): TurnQueueTransition => ({
	state: {...state, phase: 'closed', running: undefined, stopReason: undefined},
	actions: [{type: 'closed', ending}],
});

function cancelTurn(state: TurnQueue, id: string): TurnQueueTransition {
	if (state.running?.id === id) return stopRunning(state, 'cancelled');
	const turn = state.queuedMail?.id === id ? state.queuedMail : state.queue.find(queued => queued.id === id);
	if (!turn) return unchanged(state);
	const queue = state.queue.filter(queued => queued !== turn);
	return rejectTurn(
		{...state, queue, queuedMail: state.queuedMail === turn ? undefined : state.queuedMail},
		turn,
		'cancelled',
	);
}

/** A turn is told to stop once: who asked first is who it is stopped for. */
function stopRunning(state: TurnQueue, reason: TurnStopReason): TurnQueueTransition {
	const {running, stopReason} = state;
	if (!running || stopReason !== undefined) return unchanged(state);
	return {state: {...state, stopReason: reason}, actions: [{type: 'stop', turn: running, reason}]};
}

function beginClose(state: TurnQueue, wantsSummary: boolean): TurnQueueTransition {
	const frozen: TurnQueue = {
		...state,
		phase: 'closing',
		queue: [],
		queuedMail: undefined,
		wantsSummary: true,
	};
	const rejections = queuedTurns(state).map(turn => ({type: 'refuse', turn, reason: 'closed'}) as const);
	const {state: after, actions} = state.running
		? stopRunning(frozen, 'closed')
		: wantsSummary
			? startSummary(frozen)
			: closeQueue(frozen, 'closed');
	return {state: after, actions: [...rejections, ...actions]};
}

function expireClose(state: TurnQueue): TurnQueueTransition {
	const stopped = stopRunning(state, 'closed').actions;
	const {state: after, actions} = closeQueue(state, 'interrupted');
	return {state: after, actions: [...stopped, ...actions]};
}

function endOnCodexExit(state: TurnQueue): TurnQueueTransition {
	if (state.phase === 'closed') return unchanged(state);
	const turns = [...(state.running ? [state.running] : []), ...queuedTurns(state)];
	const rejections = turns.map(turn => ({type: 'refuse', turn, reason: 'gone'}) as const);
	const {state: after, actions} = closeQueue({...state, queue: [], queuedMail: undefined}, 'interrupted');
	return {state: after, actions: [...rejections, ...actions]};
}

const queuedTurns = ({queue, queuedMail}: TurnQueue): readonly Turn[] =>
	queuedMail ? [...queue, queuedMail] : queue;
