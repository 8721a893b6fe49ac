/** One thing that was looked at. */
export type Finding = {
	/** `error`: something will not work; `warning`: something is not as it should be; `info`: nothing to judge. */
	readonly state: 'ok' | 'info' | 'warning' | 'error';
	readonly about: string;
	readonly text: string;
	/** What to do about it. */
	readonly remedy?: string;
};

export const ok = (about: string, text: string): Finding => ({state: 'ok', about, text});
export const info = (about: string, text: string): Finding => ({state: 'info', about, text});
export const warning = (about: string, text: string, remedy: string): Finding => ({
	state: 'warning',
	about,
	text,
	remedy,
});
export const error = (about: string, text: string, remedy: string): Finding => ({
	state: 'error',
	about,
	text,
	remedy,
});
