import type {Envelope} from '../core/envelope.js';
import {memberRange} from '../wire/member.js';
import {CLIENT_CAPABILITIES, PROTOCOL_VERSION} from './v2026-07-28.js';

/**
 * Whether a message belongs to the stateless era, as `isStatelessRequest` defines it. The message is not
 * parsed, because every POST without a session is checked, whatever its size.
 */
export function isStatelessMessage({head: {method}, bytes}: Envelope): boolean {
	if (method === 'server/discover') return true;
	const at = memberRange(bytes, 'params', '_meta');
	const meta = at && bytes.subarray(...at);
	return meta !== undefined && (has(meta, PROTOCOL_VERSION) || has(meta, CLIENT_CAPABILITIES));
}

const has = (json: Buffer, name: string): boolean => memberRange(json, name) !== undefined;
