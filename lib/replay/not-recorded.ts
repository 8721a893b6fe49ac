import {BridgeError, type Details} from '../errors.js';
import {nearest as nearestWord} from '../nearest.js';
import {printable} from '../printable.js';
import type {Difference} from './compare.js';
import type {Cue} from './cues.js';
import type {Library} from './library.js';
import {titleOf} from './outcome.js';
import {pointerText} from './pointer.js';

type Unknown = {
	readonly method: string;
	readonly library: Library;
	readonly nearest: Cue | undefined;
	readonly differences: readonly Difference[];
};

/** So many differences to the nearest one are told. */
const MAX_TOLD = 3;
const MAX_VALUE = 80;
const MAX_METHODS = 20;

/** A request that is not in the recording: what is, and how that differs. */
export function notRecorded({method, library, nearest, differences}: Unknown): BridgeError {
	if (!nearest) return unknownMethod(method, library.methods);
	const told = differences.slice(0, MAX_TOLD).map(differenceText).join('; ');
	const more = differences.length > MAX_TOLD ? `; and ${differences.length - MAX_TOLD} more` : '';
	const title = titleOf(nearest.message, library.recording);
	return failure(
		'ERR_REQUEST_UNRECORDED',
		`The recording has no ${method} with these params. The nearest one is ${printable(title)}: ${told}${more}.`,
		'Record this call, too, or leave out what differs with --ignore POINTER.',
		{nearest: title},
	);
}

function unknownMethod(method: string, methods: readonly string[]): BridgeError {
	const known = methods.slice(0, MAX_METHODS).join(', ');
	return failure(
		'ERR_METHOD_UNRECORDED',
		`The recording has no ${printable(method)}.`,
		`${nearestWord(method, methods)} It has: ${printable(known)}.`.trim(),
	);
}

/** A request that was recorded, but whose answer is not in the log. */
export const notAnswered = (method: string): BridgeError =>
	failure(
		'ERR_REQUEST_UNRECORDED',
		`The recording has this ${printable(method)}, but no answer to it.`,
		'Record it again, up to its answer.',
	);

const failure = (
	code: 'ERR_REQUEST_UNRECORDED' | 'ERR_METHOD_UNRECORDED',
	message: string,
	remedy: string,
	details: Details = {},
): BridgeError => new BridgeError(code, message, remedy, details);

function differenceText({path, recorded, live}: Difference): string {
	const where = pointerText(path);
	if (recorded === undefined) return `it has no ${where}`;
	if (live === undefined) return `it has ${where}, ${valueText(recorded)}`;
	return `${where} is ${valueText(recorded)} there and ${valueText(live)} here`;
}

const valueText = (value: unknown): string => {
	const text = printable(String(JSON.stringify(value)));
	return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
};
