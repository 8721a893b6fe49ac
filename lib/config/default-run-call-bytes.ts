/**
 * The default limit of the arguments of one call, and of its result. A program that loops such calls needs up to a hundred times
 * as much memory on the main thread, nearly all of it garbage: 1 MiB keeps a run below its limit of 128 MiB.
 */
export const DEFAULT_RUN_CALL_BYTES: number = 2 ** 20;
