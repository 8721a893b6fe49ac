import {createHash, createHmac, randomBytes, timingSafeEqual} from 'node:crypto';

/** The environment variable with the session token of `bridge atm-tools`. */
export const SESSION_TOKEN_VARIABLE = 'BRIDGE_SESSION_TOKEN';

const secret = randomBytes(32);

/** Returns the token of a session. Resuming in the same process keeps it, since the tools keep running. */
export const sessionToken = (codexId: string): string =>
	`${codexId}.${createHmac('sha256', secret).update(codexId).digest('base64url')}`;

/** Returns the codex id in a token without verifying the token. */
export const codexIdFromToken = (token: string): string =>
	token.slice(0, Math.max(0, token.lastIndexOf('.')));

/** Returns the hash of a token. Files contain only the hash. */
export const hashSessionToken = (token: string): string => createHash('sha256').update(token).digest('hex');

export function matchesTokenHash(hash: string | undefined, token: string): boolean {
	const [expected, actual] = [Buffer.from(hash ?? ''), Buffer.from(hashSessionToken(token))];
	return expected.length === actual.length && timingSafeEqual(expected, actual);
}
