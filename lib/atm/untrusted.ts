import type {Member} from '../mail/types.js';
import {printable, shortened} from '../printable.js';
import type {Layer} from './layer.js';
import {Merged, withDefaultRole, withNamedRole} from './merged.js';

/** The configuration that holds without an untrusted file. */
export type Shadowed = {
	readonly layers: readonly Layer[];
	/** The members of the team. */
	readonly members: readonly Member[];
	/** The value of a key, or its default. */
	settingOf(name: string): unknown;
};

/** The values of the keys that restrict a session, strictest first. */
const strictestFirst = {
	sandbox: ['read-only', 'workspace-write', 'danger-full-access'],
	approvalPolicy: ['untrusted', 'on-request', 'on-failure', 'never'],
} as const;
type Guard = keyof typeof strictestFirst;
const guards = Object.keys(strictestFirst) as Guard[];

/** Why a value is rejected; undefined where it is not. `now` is the value that holds without the file. */
type Rule = (value: unknown, now: unknown) => string | undefined;

const isFree: Rule = () => undefined;
const isLower: Rule = (value, now) => (Number(value) <= Number(now) ? undefined : `it is more than ${now}`);
const isHigher: Rule = (value, now) => (Number(value) >= Number(now) ? undefined : `it is less than ${now}`);
/** 0 means unlimited. */
const isShorter: Rule = (value, now) =>
	isLower(value === 0 ? Number.POSITIVE_INFINITY : value, now === 0 ? Number.POSITIVE_INFINITY : now);
const isOff: Rule = value => (value === false ? undefined : 'it enables a setting that is off without it');
const addsText: Rule = () => 'it adds instructions to each session';

/** The keys that an untrusted file may have, under conditions. All other keys are rejected. */
const rules: ReadonlyMap<string, Rule> = new Map([
	...['model', 'fastModel', 'reasoningEffort', 'team', 'coreIdentity'].map(name => [name, isFree] as const),
	...[
		'maxConcurrentThreads',
		'maxQueuedTurns',
		'maxMailMessages',
		'maxMailMessageLength',
		'maxMailTurns',
	].map(name => [name, isLower] as const),
	['requestTimeoutSecs', isShorter],
	...['mailPollIntervalMs', 'mailQuietSecs'].map(name => [name, isHigher] as const),
	...['autoMail', 'atmTools'].map(name => [name, isOff] as const),
	['auditFsync', value => (value === 'always' ? undefined : 'audit lines would reach the disk later')],
	['codexBin', () => 'it names a program to run'],
	['basePromptFile', addsText],
	['extraInstructionsFile', addsText],
	['agentFileAs', () => 'it could turn agent files into base instructions'],
	['metricsPort', () => 'it opens a port'],
]);

/** Why an untrusted file may not set a key to a value; undefined where it may. */
export function objectionTo(name: string, value: unknown, shadowed: Shadowed): string | undefined {
	const [table = '', ...rest] = name.split('.');
	const key = rest.join('.');
	if (table === 'aliases') return aliasObjection(key, value, shadowed);
	if (table === 'perThreadAutoMail') return isOff(value, undefined) && autoMailObjection(key, shadowed);
	if (table === 'roles') return roleObjection(rest, value, shadowed);
	if (isGuard(name)) return guardObjection(name, value, boundsOf(name, undefined, shadowed.layers));
	if (name === 'identity') return identityObjection(String(value), shadowed);
	// The default role is checked last: see looserRole.
	if (name === 'role') return;
	const now = shadowed.settingOf(name);
	if (value === now) return;
	return (rules.get(name) ?? onlyTrusted)(value, now);
}

const onlyTrusted: Rule = () => 'only a trusted repository may set it';

/** Why an untrusted file may not choose the default role; undefined if it makes nothing looser. */
export function looserRole(layers: readonly Layer[], without: readonly Layer[]): string | undefined {
	const [chosen, now] = [layers, without].map(each => new Merged(withDefaultRole(each)).settings());
	const looser = guards.find(guard => guardObjection(guard, chosen?.[guard], [now?.[guard]]) !== undefined);
	return looser && `its ${keyOf(looser)} is less strict than ${shown(now?.[looser])}`;
}

/** Completes roles that only the untrusted file defines with the settings of a call without a role. */
export function completeRoles(layer: Layer, without: readonly Layer[]): void {
	const now = new Merged(withDefaultRole(without));
	const roles = new Merged([layer]).names('roles').filter(name => !name.includes('.'));
	for (const role of roles.filter(name => !isKnown(name, without)))
		for (const guard of guards) {
			const given = now.given(guard);
			if (given && !layer.has(`roles.${role}.${guard}`)) layer.set(`roles.${role}.${guard}`, given);
		}
}

const isKnown = (role: string, layers: readonly Layer[]): boolean =>
	layers.some(layer => layer.has(`roles.${role}`));

function roleObjection([role = '', key]: readonly string[], value: unknown, {layers}: Shadowed) {
	return key !== undefined && isGuard(key)
		? guardObjection(key, value, boundsOf(key, role, layers))
		: undefined;
}

/** The values that one of an untrusted file must not be looser than. */
function boundsOf(guard: Guard, role: string | undefined, layers: readonly Layer[]): unknown[] {
	const isOwn = role !== undefined && isKnown(role, layers);
	const stacks = isOwn ? [withNamedRole(layers, role)] : [withDefaultRole(layers), layers];
	return stacks.map(stack => new Merged(stack).given(guard)?.value);
}

/** Without a known value, Codex's own default applies, which may be the strictest. */
function guardObjection(guard: Guard, value: unknown, bounds: readonly unknown[]): string | undefined {
	const order: readonly unknown[] = strictestFirst[guard];
	const rank = order.indexOf(value);
	for (const bound of bounds) {
		if (value === bound || (rank >= 0 && rank <= Math.max(0, order.indexOf(bound)))) continue;
		if (value !== undefined && rank < 0) return `it is not one of ${order.join(', ')}`;
		return `it is less strict than ${shown(bound)}`;
	}
	return;
}

const shown = (bound: unknown): string =>
	bound === undefined
		? "Codex's own default may be"
		: `${printable(shortened(String(bound)))}, which holds without it`;

function autoMailObjection(identity: string, {settingOf, layers}: Shadowed): string | undefined {
	const now = new Merged(layers).given(`perThreadAutoMail.${identity}`)?.value ?? settingOf('autoMail');
	return now === true ? undefined : isOff(true, now);
}

/** Mail to a member, or to an alias of the user, must not go elsewhere. */
function aliasObjection(name: string, value: unknown, {members, layers}: Shadowed): string | undefined {
	const own = new Merged(layers).given(`aliases.${name}`);
	if (own) return own.value === value ? undefined : 'your own configuration has this alias';
	return isMember(name, members) ? 'a member of the team has this name' : undefined;
}

/** A session of this name would read the mail of that member. Entries of other sessions of bridge have a mark. */
const identityObjection = (identity: string, {members, settingOf}: Shadowed): string | undefined =>
	identity !== settingOf('identity') &&
	isMember(
		identity,
		members.filter(({mark}) => mark === undefined),
	)
		? 'a member of the team has this name'
		: undefined;

/** Names that differ only in case are the same. */
export const isMember = (name: string, members: readonly Member[]): boolean =>
	members.some(member => member.name.toLowerCase() === name.toLowerCase());

const isGuard = (name: string): name is Guard => Object.hasOwn(strictestFirst, name);
const keyOf = (guard: Guard): string => (guard === 'sandbox' ? guard : 'approval_policy');
