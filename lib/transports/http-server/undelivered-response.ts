import type {ServerResponse} from 'node:http';

/**
 * Calls back if the response that begins a session is not delivered: then the client has no session id.
 *
 * A response is delivered when the kernel has all of it. A reset after that does not show that the client lacks it: load
 * balancers reset connections that they no longer need. `mayResume` returns whether the client can resume the stream.
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
