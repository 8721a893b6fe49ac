/** One thing that was looked at. */
export type DoctorFinding = {
	/** `error`: something will not work; `warning`: something is not as it should be; `info`: nothing to judge. */
	readonly state: 'ok' | 'info' | 'warning' | 'error';
	readonly about: string;
	readonly text: string;
	/** What to do about it. */
	readonly remedy?: string;
};

export const okFinding = (about: string, text: string): DoctorFinding => ({state: 'ok', about, text});
export const infoFinding = (about: string, text: string): DoctorFinding => ({state: 'info', about, text});
export const warningFinding = (about: string, text: string, remedy: string): DoctorFinding => ({
	state: 'warning',
	about,
	text,
	remedy,
});
export const errorFinding = (about: string, text: string, remedy: string): DoctorFinding => ({
	state: 'error',
	about,
	text,
	remedy,
});
