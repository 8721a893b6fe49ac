import type {TurnRequest} from './turn-run.js';

/** A call of Codex's tools that was made ready for its turn. */
export type AcceptedCall = Omit<
	TurnRequest,
	'turn' | 'tool' | 'arguments' | 'meta' | 'origin' | 'respond' | 'onStarted'
>;

/** Calls on their way from the stage that makes them ready to the one that runs them, by the keys of their requests. */
export type AcceptedCalls = Map<string, AcceptedCall>;
