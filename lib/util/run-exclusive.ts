const lastByKey = new Map<string, Promise<unknown>>();

/** Runs an action after all earlier actions with the same key in this process have finished. */
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
