/** The result of one check. */
export type DoctorFinding = {
	/** `error`: something will not work; `warning`: a probable problem; `info`: neutral information. */
	readonly state: 'ok' | 'info' | 'warning' | 'error';
	readonly about: string;
	readonly text: string;
	/** The suggested fix. */
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
