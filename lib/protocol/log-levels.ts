/** From the least to the most important. */
const levels: readonly unknown[] = [
	...['debug', 'info', 'notice', 'warning'],
	...['error', 'critical', 'alert', 'emergency'],
];

/** Whether somebody who wants this level gets a message of that one. Who wants none gets none. */
export const isAtLeast = (level: unknown, wanted: string | undefined): boolean =>
	levels.includes(wanted) && levels.indexOf(level) >= levels.indexOf(wanted);
