/** Returns true if the handler recognizes an uncaught error as its own and has reported it. */
type UncaughtErrorHandler = (error: unknown) => boolean;

const handlers = new Set<UncaughtErrorHandler>();

/**
 * Adds a handler, so that third-party code can fail without ending bridge. Returns the function that removes
 * it.
 */
export function onUncaughtError(handler: UncaughtErrorHandler): () => void {
	handlers.add(handler);
	return () => void handlers.delete(handler);
}

/** Whether a handler recognizes this error. Any other error is a bug. */
export const handleUncaughtError = (error: unknown): boolean => [...handlers].some(handler => handler(error));
