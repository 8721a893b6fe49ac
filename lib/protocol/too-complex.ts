import {BridgeError} from '../core/errors.js';
import {MAX_KEY_BYTES, MAX_MESSAGE_VALUES} from '../wire/walk.js';

/** The error for a message that would take too long to parse. */
export const tooComplex = (sender: string): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_TOO_LARGE',
		`${sender} sent a message with more than ${MAX_MESSAGE_VALUES} values, or with a key of more than ${MAX_KEY_BYTES} bytes.`,
		'Send it in smaller parts, or a part of it as one text.',
		{limit: MAX_MESSAGE_VALUES, keyLimit: MAX_KEY_BYTES},
	);
