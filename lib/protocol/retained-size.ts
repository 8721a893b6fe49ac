import type {Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import {memberRange} from '../wire/member.js';
import {CLIENT_CAPABILITIES, PROTOCOL_VERSION} from './v2026-07-28.js';

/** The maximum bytes of an `initialize`, or of the `_meta` of a stateless request. A session retains them. */
const MAX_CLIENT_DESCRIPTION = 64 * 2 ** 10;
/** The maximum bytes of a message that sets one option of a session, such as its log level. */
const MAX_SETTING = 8 * 2 ** 10;

/** The maximum size of messages whose content a session retains, by method. */
const limits: ReadonlyMap<string, number> = new Map([
	['initialize', MAX_CLIENT_DESCRIPTION],
	['subscriptions/listen', MAX_CLIENT_DESCRIPTION],
	['notifications/initialized', MAX_SETTING],
	['logging/setLevel', MAX_SETTING],
	['resources/subscribe', MAX_SETTING],
]);

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

/** The size of the `_meta` of a stateless request; 0 if it does not describe a client. */
function clientDescriptionBytes({bytes}: Envelope): number {
	const range = memberRange(bytes, 'params', '_meta');
	if (!range || range[1] - range[0] <= MAX_CLIENT_DESCRIPTION) return 0;
	const meta = bytes.subarray(...range);
	const isStateless = [PROTOCOL_VERSION, CLIENT_CAPABILITIES].some(
		key => memberRange(meta, key) !== undefined,
	);
	return isStateless ? meta.length : 0;
}

const tooLarge = (subject: string, bytes: number, limit: number): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_TOO_LARGE',
		`${subject} has ${bytes} bytes; the limit is ${limit}, because a session retains it.`,
		'Shorten it.',
		{limit},
	);
