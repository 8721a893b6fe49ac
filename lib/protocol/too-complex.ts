import {BridgeError} from '../errors.js';
import {MAX_KEY, MAX_VALUES} from '../wire/walk.js';

/** The error for a message that would take too long to parse. */
export const tooComplex = (sender: string): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_TOO_LARGE',
		`${sender} sent a message with more than ${MAX_VALUES} values, or with a key of more than ${MAX_KEY} bytes.`,
		'Send it in smaller parts, or a part of it as one text.',
		{limit: MAX_VALUES, keyLimit: MAX_KEY},
	);
