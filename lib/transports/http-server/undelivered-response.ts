import type {ServerResponse} from 'node:http';

/**
 * Calls back if the response to `initialize` is not delivered. The client has no session id then.
 *
 * A response counts as delivered when the kernel has accepted all of it. A later reset does not prove a loss:
 * load balancers reset connections that they no longer need. `canResume` returns whether the client can
 * resume the stream.
 */
export function onceUndelivered(
	response: ServerResponse,
	canResume: () => boolean,
	onUndelivered: () => void,
): void {
	const closed = (): void => {
		if (!response.writableFinished && !canResume()) onUndelivered();
	};
	if (response.destroyed) closed();
	else response.once('close', closed);
}
