import {BridgeError} from '../core/errors.js';
import {isBridgeError, type JsonObject, objectOf, toText} from '../util/json.js';
import {truncated} from '../util/truncate.js';

/**
 * The error of a request whose upstream could not be initialized, from the error of `initialize`. Errors of
 * bridge already contain a remedy and are returned unchanged.
 */
export function initializeError(upstream: string, error: unknown): JsonObject {
	if (isBridgeError(error)) return objectOf(error);
	const reason = truncated(toText(objectOf(error).message)).replace(/\.$/, '');
	return new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${upstream} rejected initialize: ${reason}.`,
		'Correct its configuration or the request, then connect again.',
	).toRpc();
}
