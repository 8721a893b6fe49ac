// The suite and the tested program alternate, so three jobs at a time use two cores well.
const atOnce = 3;

/** Processes the items, three at a time. The results have the order of the items. */
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
