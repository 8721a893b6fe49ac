import {BridgeError} from '../../core/errors.js';

/** Limit on calls without a response. */
export const MAX_PENDING_CALLS = 1000;

export type TurnLimits = {
	/** Time limit for Codex to confirm that a cancelled turn has stopped. */
	readonly cancelGraceMs?: number | undefined;
	/**
	 * How long the thread of a cancelled call stays busy after Codex has read the request without acknowledging
	 * it.
	 */
	readonly acknowledgeMs?: number | undefined;
	/** Time limit from the request for a turn to its start. Codex may have to load MCP servers first. */
	readonly startMs?: number | undefined;
	/** How long a thread stays busy with an abandoned turn that Codex does not end. */
	readonly stuckMs?: number | undefined;
};

export const withDefaultLimits = ({
	cancelGraceMs = 2000,
	acknowledgeMs = 5000,
	startMs = 120_000,
	stuckMs = 30_000,
}: TurnLimits) => ({cancelGraceMs, acknowledgeMs, startMs, stuckMs});

export const tooManyCalls = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${MAX_PENDING_CALLS} calls of Codex are pending, which is the limit.`,
		'Wait until some of them complete, then try again.',
		{limit: MAX_PENDING_CALLS},
	);
