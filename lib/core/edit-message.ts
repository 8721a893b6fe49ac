import {ExactNumbers} from '../wire/exact-numbers.js';
import {marks} from '../wire/marks.js';
import type {Body, Envelope} from './envelope.js';

/** A message open to be changed: its body, and the way to make another message of it. */
type MessageDraft = {
	readonly body: Body;
	/** The same message with another body, numbers and id as they were written. */
	with(body: Body): Envelope;
};

export function createDraft(envelope: Envelope): MessageDraft {
	if ((envelope.head.marks & marks.inexactNumber) !== 0) return exactNumbersDraft(envelope);
	const {body} = envelope;
	return {body, with: changed => (changed === body ? envelope : envelope.with(changed))};
}

function exactNumbersDraft(envelope: Envelope): MessageDraft {
	const exact = new ExactNumbers();
	const body = exact.parse(envelope.line.toString()) as Body;
	return {
		body,
		with: changed => (changed === body ? envelope : envelope.withText(exact.stringify(changed))),
	};
}

/** The message with what `change` makes of its body; the message itself if that is the same. */
export function editMessage(envelope: Envelope, edit: (body: Body) => Body): Envelope {
	const messageDraft = createDraft(envelope);
	return messageDraft.with(edit(messageDraft.body));
}

/** The cancellation of a request, by the id that it is known by elsewhere. */
export const cancellationFor = (cancellation: Envelope, id: string): Envelope =>
	editMessage(cancellation, body => ({
		...body,
		params: {...(body.params as object), requestId: JSON.parse(id)},
	}));
