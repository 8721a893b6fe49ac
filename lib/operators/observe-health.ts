import {perMessage, type Stage} from '../core/stage.js';
import {objectOf} from '../util/json.js';

type ObserveHealthOptions = {
	readonly onMessage: () => void;
	/** Called when the upstream is unreachable. Without a reason, its process exited (reported elsewhere). */
	readonly onFailure: (reason: string | undefined) => void;
};

/** Reports the reachability of an upstream for the status. Must be the stage next to the upstream. */
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
