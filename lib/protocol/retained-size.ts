import type {Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import {memberRange} from '../wire/member.js';
import {CLIENT_CAPABILITIES, PROTOCOL_VERSION} from './v2026-07-28.js';

/** Bytes that describe a client: its `initialize`, or the `_meta` of a stateless request. A session keeps them. */
const MAX_CLIENT_DESCRIPTION = 64 * 2 ** 10;
/** Bytes of a message that sets one thing for the rest of a session: a log level, a resource to be notified of. */
const MAX_SETTING = 8 * 2 ** 10;

/** The longest message of each method whose content is kept for the rest of a session, with or without an id. */
const limits: ReadonlyMap<string, number> = new Map([
	['initialize', MAX_CLIENT_DESCRIPTION],
	['subscriptions/listen', MAX_CLIENT_DESCRIPTION],
	['notifications/initialized', MAX_SETTING],
	['logging/setLevel', MAX_SETTING],
	['resources/subscribe', MAX_SETTING],
]);

/** Rejects a message that is longer than a session may keep. */
export function retainedSizeError(envelope: Envelope): BridgeError | undefined {
	const {id, method} = envelope.head;
	const {size} = envelope;
	if (size <= MAX_SETTING || method === undefined) return;
	const limit = limits.get(method);
	if (limit !== undefined && size > limit) return tooLarge(`This ${method}`, size, limit);
	const bytes = size <= MAX_CLIENT_DESCRIPTION || id === undefined ? 0 : clientDescriptionBytes(envelope);
	return bytes > MAX_CLIENT_DESCRIPTION
		? tooLarge('The _meta of this request', bytes, MAX_CLIENT_DESCRIPTION)
		: undefined;
}

/** The size of the `_meta` of a stateless request; 0 where it does not describe a client. */
function clientDescriptionBytes({bytes}: Envelope): number {
	const range = memberRange(bytes, 'params', '_meta');
	if (!range || range[1] - range[0] <= MAX_CLIENT_DESCRIPTION) return 0;
	const meta = bytes.subarray(...range);
	const isStateless = [PROTOCOL_VERSION, CLIENT_CAPABILITIES].some(
		key => memberRange(meta, key) !== undefined,
	);
	return isStateless ? meta.length : 0;
}

const tooLarge = (what: string, bytes: number, limit: number): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_TOO_LARGE',
		`${what} has ${bytes} bytes; the limit is ${limit}, since a session keeps it.`,
		'Shorten it.',
		{limit},
	);
