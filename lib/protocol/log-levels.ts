/** In ascending order of severity. */
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

/** Whether a message of this level reaches a minimum level. Without a valid minimum, none does. */
export const isAtLeast = (level: unknown, minimum: string | undefined): boolean =>
	levels.includes(minimum) && levels.indexOf(level) >= levels.indexOf(minimum);

export const isLogLevel = (level: unknown): level is string => levels.includes(level);

export const mostVerbose = (minimums: readonly string[]): string | undefined =>
	minimums.toSorted((a, b) => levels.indexOf(a) - levels.indexOf(b))[0];
