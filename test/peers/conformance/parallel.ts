// The suite and what it tests are busy in turn, so three at a time keep two cores busy without starving anyone.
const atOnce = 3;

/** Does the work for all items, a few at a time; the results have the order of the items. */
export async function inParallel<Item, Result>(
	items: readonly Item[],
	work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
	const results: Result[] = [];
	const queue = [...items.entries()];
	const worker = async (): Promise<void> => {
		for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
			results[next[0]] = await work(next[1]);
		}
	};
	await Promise.all(Array.from({length: atOnce}, worker));
	return results;
}
