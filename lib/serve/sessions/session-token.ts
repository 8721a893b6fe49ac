import {createHash, createHmac, randomBytes, timingSafeEqual} from 'node:crypto';

/** The variable that `bridge atm-tools` gets the token of its session in. */
export const SESSION_TOKEN_VARIABLE = 'BRIDGE_SESSION_TOKEN';

const secret = randomBytes(32);

/** The token of a session. A session that is closed and resumed in the same process keeps it, as its tools still run. */
export const sessionToken = (codexId: string): string =>
	`${codexId}.${createHmac('sha256', secret).update(codexId).digest('base64url')}`;

/** The session id in a token. This does not prove the session. */
export const codexIdFromToken = (token: string): string =>
	token.slice(0, Math.max(0, token.lastIndexOf('.')));

/** The form in which a token is kept in files. */
export const hashSessionToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Whether a file has the hash of this token. */
export function matchesTokenHash(hash: string | undefined, token: string): boolean {
	const [expected, actual] = [Buffer.from(hash ?? ''), Buffer.from(hashSessionToken(token))];
	return expected.length === actual.length && timingSafeEqual(expected, actual);
}
