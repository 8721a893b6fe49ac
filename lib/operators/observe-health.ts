import {perMessage, type Stage} from '../core/stage.js';
import {objectOf} from '../util/json.js';

type ObserveHealthOptions = {
	/** The server has said something. */
	readonly onMessage: () => void;
	/** It could not be reached, for this reason; undefined where its process exited, which was reported with the reason. */
	readonly onFailure: (reason: string | undefined) => void;
};

/** Takes note of whether a server is there, for the status. Stands next to it. */
export const observeHealth = ({onMessage, onFailure}: ObserveHealthOptions): Stage =>
	perMessage({
		toClient(envelope) {
			if (envelope.isReceived) onMessage();
			else if (envelope.head.hasError && !envelope.origin.errorReply) {
				const {message, data} = objectOf(envelope.body.error);
				onFailure(objectOf(data).kind === 'child_exited' ? undefined : String(message));
			}
			return envelope;
		},
	});
