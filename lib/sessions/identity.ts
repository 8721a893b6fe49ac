import {checkIdentity} from '../atm/names.js';
import {BridgeError} from '../errors.js';
import {Refusal} from './refusal.js';

/** The identity, if it may be one. */
export function checkedIdentity(identity: string): string {
	try {
		return checkIdentity(identity);
	} catch (error) {
		throw error instanceof BridgeError ? new Refusal('invalid_params', error.sentence) : error;
	}
}

/** Who has which identity at present: names that differ in case alone are one, as they are on some file systems. */
export type Claims = ReadonlyMap<string, Claim>;
export type Claim = {readonly identity: string; readonly codexId: string};

const keyOf = (identity: string): string => identity.toLowerCase();

/** The session that has an identity. */
export const holderOf = (claims: Claims, identity: string): string | undefined =>
	claims.get(keyOf(identity))?.codexId;

/** What a caller can do about a conflict depends on what it wants, and on the session that has the identity. */
export type Conflict = {
	/** Whether the call resumes a session, whose identity cannot be changed. */
	readonly isResume?: boolean;
	/** Whether the session that has the identity is about to end. */
	readonly isClosing?: ((holder: string) => boolean) | undefined;
};

/** The claims with one more; rejected if another session has the identity, or there are too many. */
export function claimed(claims: Claims, claim: Claim, limit: number, how: Conflict = {}): Claims {
	const holder = holderOf(claims, claim.identity);
	if (holder !== undefined) throw conflict(claim.identity, holder, how);
	if (claims.size >= limit) throw tooMany(claims, limit);
	return new Map(claims).set(keyOf(claim.identity), claim);
}

/** The claims without this session's. */
export function released(claims: Claims, {identity, codexId}: Claim): Claims {
	if (holderOf(claims, identity) !== codexId) return claims;
	const left = new Map(claims);
	left.delete(keyOf(identity));
	return left;
}

const otherChoice = (isResume = false): string =>
	isResume ? 'or start a new session with another identity, without codex_id' : 'or name another identity';

/** An identity that another session has. */
export function conflict(identity: string, holder: string, {isResume, isClosing}: Conflict = {}): Refusal {
	const other = otherChoice(isResume);
	const advice = isClosing?.(holder)
		? `That session is being closed: try again when it has ended, ${other}.`
		: `Continue that one with codex-reply and codex_id ${holder}, end it with codex_close, ${other}.`;
	return new Refusal(
		'identity_conflict',
		`The identity ${identity} belongs to the session ${holder}. ${advice}`,
		{identity, conflicting_codex_id: holder, codex_id: holder},
	);
}

/** An identity that a session of another process has, which alone can end it. */
export function conflictElsewhere(
	identity: string,
	holder: string,
	pid?: number,
	{isResume}: Conflict = {},
): Refusal {
	const process = pid === undefined ? '' : ` (pid ${pid})`;
	const other = otherChoice(isResume);
	return new Refusal(
		'identity_conflict',
		`The identity ${identity} belongs to the session ${holder} of another bridge serve${process}. ` +
			`Continue it there, end it or that bridge serve there, ${other}.`,
		{identity, conflicting_codex_id: holder, codex_id: holder, ...(pid === undefined ? {} : {pid})},
	);
}

function tooMany(claims: Claims, limit: number): Refusal {
	const held = [...claims.values()].map(({identity, codexId}) => `${identity} (${codexId})`);
	return new Refusal(
		'max_sessions',
		`There are ${claims.size} active sessions, and max_concurrent_threads is ${limit}. Close one with codex_close: ${held.join(', ')}.`,
		{max: limit, active: claims.size},
	);
}
