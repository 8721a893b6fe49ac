/** The time that the specification allows for a handshake. */
const DEFAULT_HANDSHAKE_MS = 60_000;

/** The limit for one handshake attempt. A longer request limit raises it; 0 disables both. */
export const handshakeTimeoutMs = (requestTimeoutMs = DEFAULT_HANDSHAKE_MS): number =>
	requestTimeoutMs === 0 ? 0 : Math.max(requestTimeoutMs, DEFAULT_HANDSHAKE_MS);
