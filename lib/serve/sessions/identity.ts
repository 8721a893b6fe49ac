import {BridgeError} from '../../core/errors.js';
import {checkIdentity} from '../names.js';
import {ToolError} from './tool-error.js';

/** The identity, if it may be one. */
export function parseIdentity(identity: string): string {
	try {
		return checkIdentity(identity);
	} catch (error) {
		throw error instanceof BridgeError ? new ToolError('invalid_params', error.sentence) : error;
	}
}

/** Who has which identity at present: names that differ in case alone are one, as they are on some file systems. */
export type IdentityClaims = ReadonlyMap<string, IdentityClaim>;
type IdentityClaim = {readonly identity: string; readonly codexId: string};

const keyOf = (identity: string): string => identity.toLowerCase();

/** The session that has an identity. */
export const claimingCodexId = (claims: IdentityClaims, identity: string): string | undefined =>
	claims.get(keyOf(identity))?.codexId;

/** What a caller can do about a conflict depends on what it wants, and on the session that has the identity. */
type ConflictContext = {
	/** Whether the call resumes a session, whose identity cannot be changed. */
	readonly isResume?: boolean;
	/** Whether the session that has the identity is about to end. */
	readonly isClosing?: ((codexId: string) => boolean) | undefined;
};

/** The claims with one more; rejected if another session has the identity, or there are too many. */
export function addClaim(
	claims: IdentityClaims,
	claim: IdentityClaim,
	limit: number,
	context: ConflictContext = {},
): IdentityClaims {
	const claimant = claimingCodexId(claims, claim.identity);
	if (claimant !== undefined) throw identityConflict(claim.identity, claimant, context);
	if (claims.size >= limit) throw tooManySessions(claims, limit);
	return new Map(claims).set(keyOf(claim.identity), claim);
}

/** The claims without this session's. */
export function removeClaim(claims: IdentityClaims, {identity, codexId}: IdentityClaim): IdentityClaims {
	if (claimingCodexId(claims, identity) !== codexId) return claims;
	const remaining = new Map(claims);
	remaining.delete(keyOf(identity));
	return remaining;
}

const alternativeAdvice = (isResume = false): string =>
	isResume ? 'or start a new session with another identity, without codex_id' : 'or name another identity';

/** An identity that another session has. */
function identityConflict(
	identity: string,
	claimant: string,
	{isResume, isClosing}: ConflictContext = {},
): ToolError {
	const alternative = alternativeAdvice(isResume);
	const advice = isClosing?.(claimant)
		? `That session is being closed: try again when it has ended, ${alternative}.`
		: `Continue that one with codex-reply and codex_id ${claimant}, end it with codex_close, ${alternative}.`;
	return new ToolError(
		'identity_conflict',
		`The identity ${identity} belongs to the session ${claimant}. ${advice}`,
		{identity, conflicting_codex_id: claimant, codex_id: claimant},
	);
}

/** An identity that a session of another process has, which alone can end it. */
export function remoteIdentityConflict(
	identity: string,
	claimant: string,
	pid?: number,
	{isResume}: ConflictContext = {},
): ToolError {
	const pidNote = pid === undefined ? '' : ` (pid ${pid})`;
	const alternative = alternativeAdvice(isResume);
	return new ToolError(
		'identity_conflict',
		`The identity ${identity} belongs to the session ${claimant} of another bridge serve${pidNote}. ` +
			`Continue it there, end it or that bridge serve there, ${alternative}.`,
		{identity, conflicting_codex_id: claimant, codex_id: claimant, ...(pid === undefined ? {} : {pid})},
	);
}

function tooManySessions(claims: IdentityClaims, limit: number): ToolError {
	const activeIdentities = [...claims.values()].map(({identity, codexId}) => `${identity} (${codexId})`);
	return new ToolError(
		'max_sessions',
		`There are ${claims.size} active sessions, and max_concurrent_threads is ${limit}. Close one with codex_close: ${activeIdentities.join(', ')}.`,
		{max: limit, active: claims.size},
	);
}
