/** The value of a promise, or the signal's reason if that is aborted before. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
	return new Promise((resolve, reject) => {
		const onAbort = (): void => reject(signal.reason);
		signal.addEventListener('abort', onAbort, {once: true});
		if (signal.aborted) onAbort();
		promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
	});
}
