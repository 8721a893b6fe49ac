import {BridgeError} from '../core/errors.js';
import {type JsonObject, listOf, objectOf} from '../util/json.js';
import {STATELESS} from './version.js';

export const statelessUnsupported = (upstream: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`${upstream} does not speak ${STATELESS}.`,
		'Remove --target-version or choose another version; `bridge versions -- COMMAND` lists the supported ones.',
	);

/** Whether an error response to `initialize` shows that the upstream only supports the stateless era. */
export function requiresStateless({code, data}: JsonObject): boolean {
	const supported = listOf(objectOf(data).supported);
	const isUnknown = code === -32601;
	// Only stateless upstreams require headers that describe the message.
	const missesHeader = code === -32020;
	return (
		supported.includes(STATELESS) || (code === -32022 && supported.length === 0) || isUnknown || missesHeader
	);
}
