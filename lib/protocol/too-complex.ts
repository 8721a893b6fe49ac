import {BridgeError} from '../core/errors.js';
import {MAX_KEY_BYTES, MAX_MESSAGE_VALUES} from '../wire/walk.js';

export const tooComplex = (sender: string): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_TOO_LARGE',
		`${sender} sent more than ${MAX_MESSAGE_VALUES} values, or a key over ${MAX_KEY_BYTES} bytes, in one message.`,
		'Split it into smaller messages, or encode a part of it as one string.',
		{limit: MAX_MESSAGE_VALUES, keyLimit: MAX_KEY_BYTES},
	);
