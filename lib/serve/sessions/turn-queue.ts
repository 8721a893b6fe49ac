/** What a turn is for: a client call, incoming mail, or the summary of a session that is being closed. */
export type TurnSource = 'client' | 'mail' | 'summary';

export type Turn = {readonly id: string; readonly source: TurnSource};

export type TurnStopReason = 'cancelled' | 'timeout' | 'closed';

/** Why a turn did not run or was interrupted. `gone`: Codex exited. */
export type TurnRejectionReason = 'cancelled' | 'closed' | 'full' | 'gone';

/** The turns of one session: at most one runs, the others are queued. Immutable. */
export type TurnQueue = {
	readonly phase: 'open' | 'closing' | 'closed';
	readonly running: Turn | undefined;
	/** Why the running turn is being stopped. */
	readonly stopReason: TurnStopReason | undefined;
	/** Queued turns of clients, in order of arrival. */
	readonly queue: readonly Turn[];
	/** The queued turn for mail, at most one. It runs after all turns of clients. */
	readonly queuedMail: Turn | undefined;
	/** Whether a summary turn runs before the session closes. */
	readonly wantsSummary: boolean;
	readonly limit: number;
};

export type TurnQueueEvent =
	| {readonly type: 'submit'; readonly turn: Turn}
	/** A turn has ended. `isConfirmed`: Codex has reported its end. */
	| {
			readonly type: 'ended';
			readonly id: string;
			readonly isConfirmed: boolean;
			readonly isSuccessful: boolean;
	  }
	| {readonly type: 'cancel'; readonly id: string}
	| {readonly type: 'timeout'; readonly id: string}
	/**
	 * Closes the session. A busy one is stopped and then runs a summary turn; an idle one does so if
	 * `wantsSummary`.
	 */
	| {readonly type: 'close'; readonly wantsSummary: boolean}
	/** The time limit for closing has expired. */
	| {readonly type: 'expired'}
	| {readonly type: 'codex_exited'};

export type TurnQueueAction =
	| {readonly type: 'start'; readonly turn: Turn}
	| {readonly type: 'stop'; readonly turn: Turn; readonly reason: TurnStopReason}
	| {readonly type: 'reject'; readonly turn: Turn; readonly reason: TurnRejectionReason}
	| {readonly type: 'closed'; readonly ending: 'closed' | 'interrupted'};

type TurnQueueTransition = {readonly state: TurnQueue; readonly actions: readonly TurnQueueAction[]};

export const SUMMARY_TURN: Turn = {id: 'summary', source: 'summary'};

const QUEUE_LIMIT = 32;

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
 * Applies an event to the queue. Precedence: close, then cancel and timeout, then turns of clients in order
 * of arrival, then mail. A pure function: it returns the actions for the caller to perform.
 */
export function advanceTurnQueue(state: TurnQueue, event: TurnQueueEvent): TurnQueueTransition {
	switch (event.type) {
		case 'submit':
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
		case 'codex_exited':
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
	actions: [{type: 'reject', turn, reason}],
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

/** Stops the running turn at most once: the first reason applies. */
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
	const rejections = queuedTurns(state).map(turn => ({type: 'reject', turn, reason: 'closed'}) as const);
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
	const rejections = turns.map(turn => ({type: 'reject', turn, reason: 'gone'}) as const);
	const {state: after, actions} = closeQueue({...state, queue: [], queuedMail: undefined}, 'interrupted');
	return {state: after, actions: [...rejections, ...actions]};
}

const queuedTurns = ({queue, queuedMail}: TurnQueue): readonly Turn[] =>
	queuedMail ? [...queue, queuedMail] : queue;
