const queues = new Map<string, Promise<unknown>>();

/** Does something once all that was asked for before under this name, in this process, is done. */
export async function inTurn<T>(name: string, action: () => Promise<T>): Promise<T> {
	const before = queues.get(name) ?? Promise.resolve();
	const mine = before.catch(() => {}).then(action);
	queues.set(name, mine);
	try {
		return await mine;
	} finally {
		if (queues.get(name) === mine) queues.delete(name);
	}
}
