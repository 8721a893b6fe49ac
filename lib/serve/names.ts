import {BridgeError} from '../core/errors.js';
import {printable, shortened} from '../util/printable.js';

const MAX_LENGTH = 128;

/** What Windows takes for a device, whatever the ending. */
const windowsDevice = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i;

/** What a name is for, and whether it is a new one. */
type CheckedNameKind = 'identity' | 'team' | 'agent' | 'thread id';

/** Why a name cannot be one; undefined if it can. */
export function invalidNameReason(name: string): string | undefined {
	if (name === '') return 'it is empty';
	if (name.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} letters`;
	if (!/^[A-Za-z0-9._-]+$/.test(name)) return 'only A-Z, a-z, 0-9, ".", "_" and "-" may be in it';
	if (name.startsWith('.')) return 'it starts with a dot';
	if (name.startsWith('-')) return 'it starts with a dash';
	if (name.includes('..')) return 'there are two dots in a row';
	if (name.endsWith('.')) return 'it ends with a dot';
	if (windowsDevice.test(name)) return 'it is the name of a device';
	return;
}

/** Whether a name can be part of a path, and goes where others of its kind go. */
export const isSafeName = (name: string): boolean => invalidNameReason(name) === undefined;

/** Returns a name that can be part of a path, and refuses any other. */
export function checkName(name: string, kind: CheckedNameKind): string {
	const reason = invalidNameReason(name);
	if (reason !== undefined) throw invalidNameError(name, kind, reason);
	return name;
}

/**
 * The same for an identity that is to be bound. A dot in it is refused: other programs turn it into a dash when they make
 * the name of its inbox, so its mail would end up elsewhere.
 */
export function checkIdentity(name: string): string {
	const reason = invalidNameReason(name) ?? (name.includes('.') ? 'there is a dot in it' : undefined);
	if (reason !== undefined) throw invalidNameError(name, 'identity', reason);
	return name;
}

/** Who something is for: an agent, of this team or of another. */
export type MailAddress = {readonly agent: string; readonly team: string};

/** Reads `agent` or `agent@team`. */
export function parseMailAddress(text: string, ownTeam: string): MailAddress {
	const [agent = '', team, ...rest] = text.split('@').map(part => part.trim());
	if (rest.length > 0) throw invalidNameError(text, 'agent', 'there is more than one @ in it');
	return {agent: checkName(agent, 'agent'), team: checkName(team ?? ownTeam, 'team')};
}

const invalidNameError = (name: string, kind: CheckedNameKind, reason: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${printable(JSON.stringify(shortened(name)))} cannot be the name of a${/^[aeiou]/.test(kind) ? 'n' : ''} ${kind}: ${reason}.`,
		'Use letters, digits, "_" and "-", like arch-ctm.',
	);
