import type {Envelope} from '../core/envelope.js';
import {MAX_RESULT_VALUES, MEMBERS_PER_MIB} from '../run/value-limits.js';
import {jsonComplexity} from '../wire/json-complexity.js';

/** The limits of a response to a call in `run`. They are checked before the response is parsed. */
export type ResponseLimits = {
	/** Bytes of the whole message, including attachments. */
	readonly maxBytes: number;
	/** Members of all objects in total. */
	readonly maxMembers: number;
	/** Whether a larger `limits.runCall` makes `maxBytes` larger. */
	readonly canBeRaised: boolean;
};

/** The minimum size of a member with its key, colon and comma. */
const MIN_MEMBER_BYTES = 5;
/** A shorter response cannot exceed the limits of values and members. */
const MIN_CHECKED_BYTES = Math.min(MEMBERS_PER_MIB * MIN_MEMBER_BYTES, MAX_RESULT_VALUES);

/** Throws if a response is too large to be parsed on the main thread. `name` is the name of the tool. */
export function checkResponseLimits(
	response: Envelope,
	{maxBytes, maxMembers, canBeRaised}: ResponseLimits,
	name: string,
): void {
	const {size} = response;
	if (size > maxBytes) {
		const remedy = canBeRaised ? 'Request less data, or raise limits.runCall.' : 'Request less data.';
		throw new Error(
			`${name} returned ${size} bytes; the limit of a whole response is ${maxBytes}. ${remedy}`,
		);
	}
	if (size <= MIN_CHECKED_BYTES) return;
	const {values, members} = jsonComplexity(response.bytes);
	if (values > MAX_RESULT_VALUES)
		throw new Error(`${name} returned more than ${MAX_RESULT_VALUES} values. Request less data.`);
	if (members > maxMembers)
		throw new Error(
			`${name} returned more than ${maxMembers} members of objects. Request less data, or raise limits.runCall.`,
		);
}
