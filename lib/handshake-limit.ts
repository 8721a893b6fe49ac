/** How long the specification allows a handshake to take. */
const HANDSHAKE_MS = 60_000;

/** The time for one attempt at a handshake, by the time for one request: a longer one raises it, and 0 is no limit for both. */
export const handshakeLimit = (timeoutMs = HANDSHAKE_MS): number =>
	timeoutMs === 0 ? 0 : Math.max(timeoutMs, HANDSHAKE_MS);
