/** Says whether an error that nobody caught is its own, having told of it then. */
type UncaughtErrorHandler = (error: unknown) => boolean;

const handlers = new Set<UncaughtErrorHandler>();

/** Lets code that is not bridge's own fail without ending bridge. Returns what takes that back. */
export function onUncaughtError(handler: UncaughtErrorHandler): () => void {
	handlers.add(handler);
	return () => void handlers.delete(handler);
}

/** Whether somebody knows what to do with this error. If not, it is a bug. */
export const handleUncaughtError = (error: unknown): boolean => [...handlers].some(handler => handler(error));
