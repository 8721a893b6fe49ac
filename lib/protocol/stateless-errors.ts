import {BridgeError} from '../core/errors.js';
import {type JsonObject, listOf, objectOf} from '../util/json.js';
import {STATELESS} from './version.js';

/** A server that was to be spoken to in the modern version, and does not know it. */
export const statelessUnsupported = (upstream: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`${upstream} does not speak ${STATELESS}.`,
		'Leave out --target-version, or ask for another version; bridge versions -- COMMAND tells which.',
	);

/** Whether a refusal of `initialize` is one of a server that knows no handshake. */
export function requiresStateless({code, data}: JsonObject): boolean {
	const supported = listOf(objectOf(data).supported);
	const isUnknown = code === -32601;
	// Only servers of that era look for headers that say what a message is about.
	const missesHeader = code === -32020;
	return (
		supported.includes(STATELESS) || (code === -32022 && supported.length === 0) || isUnknown || missesHeader
	);
}
