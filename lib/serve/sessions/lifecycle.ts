import type {SessionState, SessionStatus} from './types.js';

/** Where a session is in its life. `starting`: its first turn runs, and Codex has not named the thread yet. */
type LifecycleStage = 'starting' | 'busy' | 'idle' | 'closed';

/** What happens to a session. */
export type LifecycleEvent =
	| 'thread_known'
	| 'turn_started'
	| 'turn_ended'
	/** The first turn ended, and there is no thread. */
	| 'start_failed'
	| 'closed'
	| 'interrupted'
	| 'child_gone'
	| 'resumed';

/** What the registry says of a session. */
export type LifecycleState = {readonly stage: LifecycleStage; readonly status: SessionStatus};

/** A session whose first call was just accepted. */
export const initialLifecycle: LifecycleState = {stage: 'starting', status: 'active'};

const finalStates = {
	closed: {stage: 'closed', status: 'closed'},
	interrupted: {stage: 'closed', status: 'interrupted'},
	child_gone: {stage: 'closed', status: 'stale'},
} as const;

const busy: LifecycleState = {stage: 'busy', status: 'active'};
const idle: LifecycleState = {stage: 'idle', status: 'active'};

/** Each change that there is; what is not here changes nothing. */
const transitions: {
	readonly [stage in LifecycleStage]: {readonly [event in LifecycleEvent]?: LifecycleState};
} = {
	starting: {...finalStates, thread_known: busy, turn_ended: idle, start_failed: finalStates.closed},
	busy: {...finalStates, turn_ended: idle},
	idle: {...finalStates, turn_started: busy},
	closed: {resumed: initialLifecycle},
};

/** The life of a session after something happened to it. */
export const nextLifecycle = (state: LifecycleState, event: LifecycleEvent): LifecycleState =>
	transitions[state.stage][event] ?? state;

/** What is told of it: who starts is busy. */
export const sessionStateOf = ({stage}: LifecycleState): SessionState =>
	stage === 'starting' ? 'busy' : stage;
