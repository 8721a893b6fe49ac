import type {RecordedMessage} from '../traffic-log/log-contents.js';
import {objectOf} from '../util/json.js';
import type {ValueDifference} from './compare.js';
import type {Recording} from './recording.js';

export type ReplayOutcome = {
	/** The method, with the name or the URI from the params. */
	readonly title: string;
	/** `missed` means that it was not sent, because the server had disconnected. */
	readonly status: 'same' | 'different' | 'failed' | 'missed';
	readonly differences: readonly ValueDifference[];
	/** The reason, if there is nothing to compare. */
	readonly failure?: string;
	readonly ms: number;
};

/** The params that distinguish calls of the same method. */
const distinguishingParams = ['name', 'uri'] as const;
const MAX_TITLE = 100;

export function messageTitle(message: RecordedMessage, recording: Recording): string {
	const {method = 'a response', length} = message;
	// Large messages are not parsed for a title.
	const params = length < 2 ** 20 ? objectOf(recording.body(message).params) : {};
	const detail = distinguishingParams.map(name => params[name]).find(value => typeof value === 'string');
	return detail === undefined ? method : `${method} ${String(detail).slice(0, MAX_TITLE)}`;
}
