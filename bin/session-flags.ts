import type {AtmFlags} from '../lib/atm/types.js';

/** What may be said of Codex sessions on the command line. */
export const sessionOptions = [
	'identity',
	'role',
	'model',
	'sandbox',
	'approval-policy',
	'team',
	'resume',
] as const;
export const sessionSwitches = ['fast', 'trust'] as const;

/** What stands for a value that was left out. */
export const ANY = '*';

/** Options whose value may be left out. */
export const isOptional = (name: string): boolean => name === 'resume';

/** What was said of it. */
export type SessionFlags = Omit<AtmFlags, 'config' | 'timeoutSecs'> & {
	/** The session to go on with: its id, or an empty text for the last one of the identity. */
	readonly resume: string | undefined;
};

/** Understands it. */
export const sessionFlags = (
	one: (name: string) => string | undefined,
	isGiven: (name: string) => boolean,
): SessionFlags => ({
	identity: one('identity'),
	role: one('role'),
	model: one('model'),
	sandbox: one('sandbox'),
	approvalPolicy: one('approval-policy'),
	team: one('team'),
	resume: one('resume') === ANY ? '' : one('resume'),
	isFast: isGiven('fast') || undefined,
	isTrusted: isGiven('trust') || undefined,
});

/** What was said of it when nothing was said. */
export const noSessionFlags: SessionFlags = sessionFlags(
	() => undefined,
	() => false,
);
