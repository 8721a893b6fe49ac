import {BridgeError} from '../core/errors.js';
import {printable, shortened} from '../util/printable.js';

const MAX_LENGTH = 128;

/** Names that Windows reserves for devices, with any file extension. */
const windowsDevice = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i;

type CheckedNameKind = 'identity' | 'team' | 'agent' | 'thread id';

/** Returns the reason why a name is invalid, or undefined if it is valid. */
export function invalidNameReason(name: string): string | undefined {
	if (name === '') return 'it is empty';
	if (name.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
	if (!/^[A-Za-z0-9._-]+$/.test(name)) return 'only A-Z, a-z, 0-9, ".", "_" and "-" are allowed';
	if (name.startsWith('.')) return 'it starts with a dot';
	if (name.startsWith('-')) return 'it starts with a dash';
	if (name.includes('..')) return 'it contains two dots in a row';
	if (name.endsWith('.')) return 'it ends with a dot';
	if (windowsDevice.test(name)) return 'Windows reserves it for a device';
	return;
}

/** Whether a name is safe as a single path segment. */
export const isSafeName = (name: string): boolean => invalidNameReason(name) === undefined;

/** Returns a name that is safe as a path segment. Throws for any other name. */
export function checkName(name: string, kind: CheckedNameKind): string {
	const reason = invalidNameReason(name);
	if (reason !== undefined) throw invalidNameError(name, kind, reason);
	return name;
}

/**
 * Returns the name of a new identity if it is valid. Dots are rejected: other programs replace them by dashes
 * in the name of its inbox, so its mail would be delivered elsewhere.
 */
export function checkIdentity(name: string): string {
	const reason = invalidNameReason(name) ?? (name.includes('.') ? 'it contains a dot' : undefined);
	if (reason !== undefined) throw invalidNameError(name, 'identity', reason);
	return name;
}

export type MailAddress = {readonly agent: string; readonly team: string};

/** Parses `agent` or `agent@team`. */
export function parseMailAddress(text: string, ownTeam: string): MailAddress {
	const [agent = '', team, ...rest] = text.split('@').map(part => part.trim());
	if (rest.length > 0) throw invalidNameError(text, 'agent', 'it contains more than one @');
	return {agent: checkName(agent, 'agent'), team: checkName(team ?? ownTeam, 'team')};
}

const invalidNameError = (name: string, kind: CheckedNameKind, reason: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${printable(JSON.stringify(shortened(name)))} is not a valid ${kind}: ${reason}.`,
		'Use letters, digits, "_" and "-", for example arch-ctm.',
	);
