import type {Ask} from './job.js';

/** A call of Codex's tools that was made ready for its turn. */
export type Accepted = Omit<Ask, 'turn' | 'tool' | 'arguments' | 'meta' | 'origin' | 'answer' | 'onStarted'>;

/** Calls on their way from the stage that makes them ready to the one that runs them, by the keys of their requests. */
export type AcceptedCalls = Map<string, Accepted>;
