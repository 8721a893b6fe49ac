/** The value of a promise, or the signal's reason if that is aborted before. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
	return new Promise((resolve, reject) => {
		const stop = (): void => reject(signal.reason);
		signal.addEventListener('abort', stop, {once: true});
		if (signal.aborted) stop();
		promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
	});
}
