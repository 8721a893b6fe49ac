import {perMessage, type Stage} from '../stage.js';

export type NoteStateOptions = {
	/** The server has said something. */
	readonly onHeard: () => void;
	/** It could not be reached, for this reason. */
	readonly onFailure: (reason: string) => void;
};

/** Takes note of whether a server is there, for the status. Stands next to it. */
export const noteState = ({onHeard, onFailure}: NoteStateOptions): Stage =>
	perMessage({
		toClient(envelope) {
			if (envelope.isReceived) onHeard();
			else if (envelope.head.hasError && !envelope.origin.refusal) {
				const {message} = envelope.body.error as {readonly message?: unknown};
				onFailure(String(message));
			}
			return envelope;
		},
	});
