/** Returns the remedy for a timeout. `setting` is the flag or key of the time limit. */
export const timeoutRemedy = (check: string, setting: string | undefined): string =>
	setting === undefined ? `${check}, then retry.` : `${check}, or raise ${setting} (0 for no limit).`;
