const lastByKey = new Map<string, Promise<unknown>>();

/** Does something once all that was asked for before under this name, in this process, is done. */
export async function runExclusive<T>(key: string, action: () => Promise<T>): Promise<T> {
	const previous = lastByKey.get(key) ?? Promise.resolve();
	const current = previous.catch(() => {}).then(action);
	lastByKey.set(key, current);
	try {
		return await current;
	} finally {
		if (lastByKey.get(key) === current) lastByKey.delete(key);
	}
}
