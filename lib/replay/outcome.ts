import type {RecordedMessage} from '../traffic-log/log-contents.js';
import {objectOf} from '../util/json.js';
import type {ValueDifference} from './compare.js';
import type {Recording} from './recording.js';

/** How one thing that was recorded went live. */
export type ReplayOutcome = {
	/** What it is about: its method, and what of that. */
	readonly title: string;
	/** `missed`: it could not be tried, since the server was gone. */
	readonly status: 'same' | 'different' | 'failed' | 'missed';
	readonly differences: readonly ValueDifference[];
	/** What went wrong, where there is nothing to compare. */
	readonly failure?: string;
	readonly ms: number;
};

/** The members of params that tell one call of a method from another. */
const distinguishingParams = ['name', 'uri'] as const;
const MAX_TITLE = 100;

/** What a request is about, in few words. */
export function messageTitle(message: RecordedMessage, recording: Recording): string {
	const {method = 'an answer', length} = message;
	// What is as long as that is not read for its title.
	const params = length < 2 ** 20 ? objectOf(recording.body(message).params) : {};
	const detail = distinguishingParams.map(name => params[name]).find(value => typeof value === 'string');
	return detail === undefined ? method : `${method} ${String(detail).slice(0, MAX_TITLE)}`;
}
