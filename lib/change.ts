import type {Body, Envelope} from './envelope.js';
import {ExactNumbers} from './wire/exact-numbers.js';
import {marks} from './wire/marks.js';

/** A message open to be changed: its body, and the way to make another message of it. */
export type Draft = {
	readonly body: Body;
	/** The same message with another body, numbers and id as they were written. */
	with(body: Body): Envelope;
};

export function draft(envelope: Envelope): Draft {
	if ((envelope.head.marks & marks.inexactNumber) !== 0) return exactDraft(envelope);
	const {body} = envelope;
	return {body, with: changed => (changed === body ? envelope : envelope.with(changed))};
}

function exactDraft(envelope: Envelope): Draft {
	const exact = new ExactNumbers();
	const body = exact.parse(envelope.line.toString()) as Body;
	return {
		body,
		with: changed => (changed === body ? envelope : envelope.withText(exact.write(changed))),
	};
}

/** The message with what `change` makes of its body; the message itself if that is the same. */
export function change(envelope: Envelope, edit: (body: Body) => Body): Envelope {
	const open = draft(envelope);
	return open.with(edit(open.body));
}

/** The cancellation of a request, by the id that it is known by elsewhere. */
export const cancellingAs = (cancellation: Envelope, id: string): Envelope =>
	change(cancellation, body => ({
		...body,
		params: {...(body.params as object), requestId: JSON.parse(id)},
	}));
