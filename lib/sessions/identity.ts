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

/** The claims with one more; refused where somebody has it, or there are too many. */
export function claimed(claims: Claims, claim: Claim, limit: number): Claims {
	const holder = holderOf(claims, claim.identity);
	if (holder !== undefined) throw conflict(claim.identity, holder);
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

/** An identity that another session has. */
export const conflict = (identity: string, holder: string): Refusal =>
	new Refusal(
		'identity_conflict',
		`The identity ${identity} belongs to the session ${holder}. ` +
			`Continue that one with codex-reply and codex_id ${holder}, end it with codex_close, or name another identity.`,
		{identity, conflicting_codex_id: holder, codex_id: holder},
	);

/** An identity that a session of another process has, which alone can do something about it. */
export const conflictElsewhere = (identity: string, holder: string, pid?: number): Refusal =>
	new Refusal(
		'identity_conflict',
		`The identity ${identity} belongs to the session ${holder} of another bridge serve${pid === undefined ? '' : ` (pid ${pid})`}. ` +
			'Go on with it there, end one or the other there, or name another identity.',
		{identity, conflicting_codex_id: holder, codex_id: holder, ...(pid === undefined ? {} : {pid})},
	);

function tooMany(claims: Claims, limit: number): Refusal {
	const held = [...claims.values()].map(({identity, codexId}) => `${identity} (${codexId})`);
	return new Refusal(
		'max_sessions',
		`There are ${claims.size} active sessions, and max_concurrent_threads is ${limit}. Close one with codex_close: ${held.join(', ')}.`,
		{max: limit, active: claims.size},
	);
}
