/** Settles like the promise, or rejects with the signal's reason if the signal is aborted first. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
	return new Promise((resolve, reject) => {
		const onAbort = (): void => reject(signal.reason);
		signal.addEventListener('abort', onAbort, {once: true});
		if (signal.aborted) onAbort();
		promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
	});
}
