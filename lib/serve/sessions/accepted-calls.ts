import type {TurnRequest} from './turn-run.js';

/** A validated call of a Codex tool, ready to run as a turn. */
export type AcceptedCall = Omit<
	TurnRequest,
	'turn' | 'tool' | 'arguments' | 'meta' | 'origin' | 'respond' | 'onStarted'
>;

/** Calls that `injectContext` prepared and `runTurns` will run, by request key. */
export type AcceptedCalls = Map<string, AcceptedCall>;
