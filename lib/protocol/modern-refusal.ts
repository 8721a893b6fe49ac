import {BridgeError} from '../errors.js';
import {type JsonObject, listOf, objectOf} from './json.js';
import {MODERN} from './version.js';

/** A server that was to be spoken to in the modern version, and does not know it. */
export const notModern = (upstream: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`${upstream} does not speak ${MODERN}.`,
		'Leave out --target-version, or ask for another version; bridge versions -- COMMAND tells which.',
	);

/** Whether a refusal of `initialize` is one of a server that knows no handshake. */
export function isModernRefusal({code, data}: JsonObject): boolean {
	const named = listOf(objectOf(data).supported);
	const isUnknown = code === -32601;
	// Only servers of that era look for headers that say what a message is about.
	const missesHeader = code === -32020;
	return named.includes(MODERN) || (code === -32022 && named.length === 0) || isUnknown || missesHeader;
}
