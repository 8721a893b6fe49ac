import type {SessionState, SessionStatus} from './types.js';

/** Where a session is in its life. `starting`: its first turn runs, and Codex has not named the thread yet. */
export type Stage = 'starting' | 'busy' | 'idle' | 'closed';

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
export type Life = {readonly stage: Stage; readonly status: SessionStatus};

/** A session whose first call was just accepted. */
export const newLife: Life = {stage: 'starting', status: 'active'};

const ending = {
	closed: {stage: 'closed', status: 'closed'},
	interrupted: {stage: 'closed', status: 'interrupted'},
	child_gone: {stage: 'closed', status: 'stale'},
} as const;

const busy: Life = {stage: 'busy', status: 'active'};
const idle: Life = {stage: 'idle', status: 'active'};

/** Each change that there is; what is not here changes nothing. */
const changes: {readonly [stage in Stage]: {readonly [event in LifecycleEvent]?: Life}} = {
	starting: {...ending, thread_known: busy, turn_ended: idle, start_failed: ending.closed},
	busy: {...ending, turn_ended: idle},
	idle: {...ending, turn_started: busy},
	closed: {resumed: newLife},
};

/** The life of a session after something happened to it. */
export const nextLife = (life: Life, event: LifecycleEvent): Life => changes[life.stage][event] ?? life;

/** What is told of it: who starts is busy. */
export const stateOf = ({stage}: Life): SessionState => (stage === 'starting' ? 'busy' : stage);
