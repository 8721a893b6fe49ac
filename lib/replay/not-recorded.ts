import {BridgeError, type ErrorDetails} from '../core/errors.js';
import {didYouMean as nearestWord} from '../util/did-you-mean.js';
import {printable} from '../util/printable.js';
import type {ValueDifference} from './compare.js';
import type {ExchangeIndex} from './exchange-index.js';
import {formatPointer} from './json-pointer.js';
import {messageTitle} from './outcome.js';
import type {RecordedExchange} from './recorded-exchanges.js';

type UnmatchedRequest = {
	readonly method: string;
	readonly exchanges: ExchangeIndex;
	readonly nearest: RecordedExchange | undefined;
	readonly differences: readonly ValueDifference[];
};

/** Limits of what an error message contains. */
const MAX_SHOWN_DIFFERENCES = 3;
const MAX_VALUE = 80;
const MAX_METHODS = 20;

/** The error for a request that is not in the recording, with the most similar recorded request. */
export function requestNotRecorded({method, exchanges, nearest, differences}: UnmatchedRequest): BridgeError {
	if (!nearest) return methodNotRecorded(method, exchanges.methods);
	const shown = differences.slice(0, MAX_SHOWN_DIFFERENCES).map(differenceText).join('; ');
	const more =
		differences.length > MAX_SHOWN_DIFFERENCES
			? `; and ${differences.length - MAX_SHOWN_DIFFERENCES} more`
			: '';
	const title = messageTitle(nearest.message, exchanges.recording);
	return notRecordedError(
		'ERR_REQUEST_UNRECORDED',
		`The recording has no ${method} with these params. The nearest one is ${printable(title)}: ${shown}${more}.`,
		'Record this call, too, or ignore the difference with --ignore POINTER.',
		{nearest: title},
	);
}

function methodNotRecorded(method: string, methods: readonly string[]): BridgeError {
	const recordedMethods = methods.slice(0, MAX_METHODS).join(', ');
	return notRecordedError(
		'ERR_METHOD_UNRECORDED',
		`The recording has no ${printable(method)}.`,
		`${nearestWord(method, methods)} It has: ${printable(recordedMethods)}.`.trim(),
	);
}

/** The error for a recorded request whose response is not in the log. */
export const responseNotRecorded = (method: string): BridgeError =>
	notRecordedError(
		'ERR_REQUEST_UNRECORDED',
		`The recording has this ${printable(method)}, but no response to it.`,
		'Record it again, including the response.',
	);

const notRecordedError = (
	code: 'ERR_REQUEST_UNRECORDED' | 'ERR_METHOD_UNRECORDED',
	message: string,
	remedy: string,
	details: ErrorDetails = {},
): BridgeError => new BridgeError(code, message, remedy, details);

function differenceText({path, recorded, live}: ValueDifference): string {
	const where = formatPointer(path);
	if (recorded === undefined) return `it has no ${where}`;
	if (live === undefined) return `it has ${where}, ${valueText(recorded)}`;
	return `${where} is ${valueText(recorded)} there and ${valueText(live)} here`;
}

const valueText = (value: unknown): string => {
	const text = printable(String(JSON.stringify(value)));
	return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
};
