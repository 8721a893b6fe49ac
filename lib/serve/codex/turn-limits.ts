import {BridgeError} from '../../core/errors.js';

/** Calls without an answer at a time. */
export const MAX_PENDING_CALLS = 1000;

export type TurnLimits = {
	/** How long a cancelled call waits for Codex to report that it has stopped. */
	readonly cancelGraceMs?: number | undefined;
	/** How long the thread of a cancelled call stays busy after Codex has read its request without acknowledging it. */
	readonly acknowledgeMs?: number | undefined;
	/** How long Codex may take from the request for a turn to its start. It may have to load MCP servers first. */
	readonly startMs?: number | undefined;
	/** How long a thread stays busy with a turn that was given up and that Codex does not end. */
	readonly stuckMs?: number | undefined;
};

/** The limits, with a default for each that is not given. */
export const withDefaultLimits = ({
	cancelGraceMs = 2000,
	acknowledgeMs = 5000,
	startMs = 120_000,
	stuckMs = 30_000,
}: TurnLimits) => ({cancelGraceMs, acknowledgeMs, startMs, stuckMs});

export const tooManyCalls = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${MAX_PENDING_CALLS} calls of Codex are under way already.`,
		'Wait for some of them before you send more.',
		{limit: MAX_PENDING_CALLS},
	);
