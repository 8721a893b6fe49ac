/** From the least to the most important. */
const levels: readonly unknown[] = [
	'debug',
	'info',
	'notice',
	'warning',
	'error',
	'critical',
	'alert',
	'emergency',
];

/** Whether somebody who wants this level gets a message of that one. Who wants none gets none. */
export const isAtLeast = (level: unknown, wanted: string | undefined): boolean =>
	levels.includes(wanted) && levels.indexOf(level) >= levels.indexOf(wanted);

export const isLogLevel = (level: unknown): level is string => levels.includes(level);

/** The level that lets most through. */
export const mostVerbose = (wanted: readonly string[]): string | undefined =>
	wanted.toSorted((a, b) => levels.indexOf(a) - levels.indexOf(b))[0];
