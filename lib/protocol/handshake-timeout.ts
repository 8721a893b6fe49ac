/** How long the specification allows a handshake to take. */
const DEFAULT_HANDSHAKE_MS = 60_000;

/** The time for one attempt at a handshake, by the time for one request: a longer one raises it, and 0 is no limit for both. */
export const handshakeTimeoutMs = (requestTimeoutMs = DEFAULT_HANDSHAKE_MS): number =>
	requestTimeoutMs === 0 ? 0 : Math.max(requestTimeoutMs, DEFAULT_HANDSHAKE_MS);
