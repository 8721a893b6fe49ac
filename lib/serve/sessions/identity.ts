import {BridgeError} from '../../core/errors.js';
import {checkIdentity} from '../names.js';
import {ToolError} from './tool-error.js';

/** Returns a valid identity. Throws a `ToolError` otherwise. */
export function parseIdentity(identity: string): string {
	try {
		return checkIdentity(identity);
	} catch (error) {
		throw error instanceof BridgeError ? new ToolError('invalid_params', error.sentence) : error;
	}
}

/** The claimed identities, by lower-case name: some file systems ignore case. */
export type IdentityClaims = ReadonlyMap<string, IdentityClaim>;
type IdentityClaim = {readonly identity: string; readonly codexId: string};

const keyOf = (identity: string): string => identity.toLowerCase();

export const claimingCodexId = (claims: IdentityClaims, identity: string): string | undefined =>
	claims.get(keyOf(identity))?.codexId;

type ConflictContext = {
	/** Whether the call resumes a session, whose identity cannot be changed. */
	readonly isResume?: boolean;
	/** Whether the session that owns the identity is being closed. */
	readonly isClosing?: ((codexId: string) => boolean) | undefined;
};

/** Adds a claim. Throws if another session has the identity or the limit is reached. */
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

/** Removes a session's claim. A claim of another session is kept. */
export function removeClaim(claims: IdentityClaims, {identity, codexId}: IdentityClaim): IdentityClaims {
	if (claimingCodexId(claims, identity) !== codexId) return claims;
	const remaining = new Map(claims);
	remaining.delete(keyOf(identity));
	return remaining;
}

const alternativeAdvice = (isResume = false): string =>
	isResume ? 'or start a new session with another identity, without codex_id' : 'or use another identity';

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

/** The error for an identity of a session in another process. Only that process can close it. */
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
			`Continue it there, close it there, stop that bridge serve, ${alternative}.`,
		{identity, conflicting_codex_id: claimant, codex_id: claimant, ...(pid === undefined ? {} : {pid})},
	);
}

function tooManySessions(claims: IdentityClaims, limit: number): ToolError {
	const activeIdentities = [...claims.values()].map(({identity, codexId}) => `${identity} (${codexId})`);
	return new ToolError(
		'max_sessions',
		`${claims.size} sessions are active, and max_concurrent_threads is ${limit}. Close one with codex_close: ${activeIdentities.join(', ')}.`,
		{max: limit, active: claims.size},
	);
}
