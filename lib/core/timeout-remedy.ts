/** A remedy for a time limit, by the flag or the key that sets it. */
export const timeoutRemedy = (check: string, setting: string | undefined): string =>
	setting === undefined ? `${check}, then retry.` : `${check}, or raise ${setting} (0 for no limit).`;
