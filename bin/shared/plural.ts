/** Formats a count with its noun: `1 connection`, `2 connections`. */
export const plural = (count: number, noun: string): string =>
	`${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
