/**
 * The default size limit of the arguments and of the result of one call. A program that makes such calls in a
 * loop needs up to 100 times this memory on the main thread, mostly garbage. 1 MiB keeps a run below its 128
 * MiB limit.
 */
export const DEFAULT_RUN_CALL_BYTES: number = 2 ** 20;
