import type {SessionState, SessionStatus} from './types.js';

/** The stage of a session. `starting`: the first turn runs, and the thread id is not known yet. */
type LifecycleStage = 'starting' | 'busy' | 'idle' | 'closed';

export type LifecycleEvent =
	| 'thread_known'
	| 'turn_started'
	| 'turn_ended'
	/** The first turn ended without a thread. */
	| 'start_failed'
	| 'closed'
	| 'interrupted'
	| 'child_exited'
	| 'resumed';

export type LifecycleState = {readonly stage: LifecycleStage; readonly status: SessionStatus};

export const initialLifecycle: LifecycleState = {stage: 'starting', status: 'active'};

const finalStates = {
	closed: {stage: 'closed', status: 'closed'},
	interrupted: {stage: 'closed', status: 'interrupted'},
	child_exited: {stage: 'closed', status: 'stale'},
} as const;

const busy: LifecycleState = {stage: 'busy', status: 'active'};
const idle: LifecycleState = {stage: 'idle', status: 'active'};

/** All transitions. Other events are ignored. */
const transitions: {
	readonly [stage in LifecycleStage]: {readonly [event in LifecycleEvent]?: LifecycleState};
} = {
	starting: {...finalStates, thread_known: busy, turn_ended: idle, start_failed: finalStates.closed},
	busy: {...finalStates, turn_ended: idle},
	idle: {...finalStates, turn_started: busy},
	closed: {resumed: initialLifecycle},
};

export const nextLifecycle = (state: LifecycleState, event: LifecycleEvent): LifecycleState =>
	transitions[state.stage][event] ?? state;

/** The state as clients see it: a starting session is busy. */
export const sessionStateOf = ({stage}: LifecycleState): SessionState =>
	stage === 'starting' ? 'busy' : stage;
