/** Says whether an error that nobody caught is its own, having told of it then. */
export type Taker = (error: unknown) => boolean;

const takers = new Set<Taker>();

/** Lets code that is not bridge's own fail without ending bridge. Returns what takes that back. */
export function takeUncaught(taker: Taker): () => void {
	takers.add(taker);
	return () => void takers.delete(taker);
}

/** Whether somebody knows what to do with this error. If not, it is a bug. */
export const isTaken = (error: unknown): boolean => [...takers].some(taker => taker(error));
