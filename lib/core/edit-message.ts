import {ExactNumbers} from '../wire/exact-numbers.js';
import {marks} from '../wire/marks.js';
import type {Body, Envelope} from './envelope.js';

/** The body of a message, and a function that builds the changed message. */
type MessageDraft = {
	readonly body: Body;
	/** Returns the message with another body. Numbers and the id keep their original spelling. */
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

/** Returns the message with an edited body, or the same envelope if `edit` returns the same body. */
export function editMessage(envelope: Envelope, edit: (body: Body) => Body): Envelope {
	const draft = createDraft(envelope);
	return draft.with(edit(draft.body));
}

export const cancellationFor = (cancellation: Envelope, id: string): Envelope =>
	editMessage(cancellation, body => ({
		...body,
		params: {...(body.params as object), requestId: JSON.parse(id)},
	}));
