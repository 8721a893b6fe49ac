import {printable, shortened} from '../../util/printable.js';
import type {TeamMember} from '../mail/types.js';
import type {ConfigLayer} from './layer.js';
import {MergedLayers, withDefaultRole, withNamedRole} from './merged-layers.js';

/** The configuration that applies without an untrusted file. */
export type TrustedBaseline = {
	readonly layers: readonly ConfigLayer[];
	readonly members: readonly TeamMember[];
	/** The value of a key, or its default. */
	settingOf(name: string): unknown;
};

/** The values of the settings that restrict a session, strictest first. */
const strictestFirst = {
	sandbox: ['read-only', 'workspace-write', 'danger-full-access'],
	approvalPolicy: ['untrusted', 'on-request', 'on-failure', 'never'],
} as const;
type RestrictionKey = keyof typeof strictestFirst;
const restrictionKeys = Object.keys(strictestFirst) as RestrictionKey[];

/**
 * Returns why a value is rejected, or undefined if it is accepted. `now` is the value that applies without
 * the file.
 */
type UntrustedRule = (value: unknown, now: unknown) => string | undefined;

const allowAny: UntrustedRule = () => undefined;
const allowLower: UntrustedRule = (value, now) =>
	Number(value) <= Number(now) ? undefined : `it is more than ${now}`;
const allowHigher: UntrustedRule = (value, now) =>
	Number(value) >= Number(now) ? undefined : `it is less than ${now}`;
/** 0 means unlimited. */
const allowShorter: UntrustedRule = (value, now) =>
	allowLower(value === 0 ? Number.POSITIVE_INFINITY : value, now === 0 ? Number.POSITIVE_INFINITY : now);
const allowOff: UntrustedRule = value =>
	value === false ? undefined : 'it enables a setting that is otherwise off';
const rejectInstructions: UntrustedRule = () => 'it adds instructions to each session';

/** The rules for the settings of an untrusted file. All other settings are rejected. */
const rules: ReadonlyMap<string, UntrustedRule> = new Map([
	...['model', 'fastModel', 'reasoningEffort', 'team', 'coreIdentity'].map(name => [name, allowAny] as const),
	...[
		'maxConcurrentThreads',
		'maxQueuedTurns',
		'maxMailMessages',
		'maxMailMessageLength',
		'maxMailTurns',
	].map(name => [name, allowLower] as const),
	['requestTimeoutSecs', allowShorter],
	...['mailPollIntervalMs', 'mailQuietSecs'].map(name => [name, allowHigher] as const),
	...['autoMail', 'atmTools'].map(name => [name, allowOff] as const),
	['auditFsync', value => (value === 'always' ? undefined : 'audit entries would be written to disk later')],
	['codexBin', () => 'it names a program to run'],
	['basePromptFile', rejectInstructions],
	['extraInstructionsFile', rejectInstructions],
	['agentFileAs', () => 'it could turn agent files into base instructions'],
	['metricsPort', () => 'it opens a port'],
]);

/** Returns why an untrusted file may not set a key to a value, or undefined if it may. */
export function rejectionReason(name: string, value: unknown, baseline: TrustedBaseline): string | undefined {
	const [table = '', ...rest] = name.split('.');
	const key = rest.join('.');
	if (table === 'aliases') return aliasRejection(key, value, baseline);
	if (table === 'perThreadAutoMail') return allowOff(value, undefined) && autoMailRejection(key, baseline);
	if (table === 'roles') return roleRejection(rest, value, baseline);
	if (isRestrictionKey(name))
		return restrictionRejection(name, value, boundsOf(name, undefined, baseline.layers));
	if (name === 'identity') return identityRejection(String(value), baseline);
	// The default role is checked last: see `looserRoleReason`.
	if (name === 'role') return;
	const now = baseline.settingOf(name);
	if (value === now) return;
	return (rules.get(name) ?? rejectAlways)(value, now);
}

const rejectAlways: UntrustedRule = () => 'only a trusted repository may set it';

/**
 * Returns why an untrusted file may not select the default role, or undefined if that loosens no restriction.
 */
export function looserRoleReason(
	layers: readonly ConfigLayer[],
	baselineLayers: readonly ConfigLayer[],
): string | undefined {
	const [selected, now] = [layers, baselineLayers].map(each =>
		new MergedLayers(withDefaultRole(each)).settings(),
	);
	const looser = restrictionKeys.find(
		restriction =>
			restrictionRejection(restriction, selected?.[restriction], [now?.[restriction]]) !== undefined,
	);
	return looser && `its ${fileKeyOf(looser)} is less strict than ${describeBound(now?.[looser])}`;
}

/** Completes roles that only the untrusted file defines with the restrictions of calls without a role. */
export function completeRoles(layer: ConfigLayer, baselineLayers: readonly ConfigLayer[]): void {
	const baseline = new MergedLayers(withDefaultRole(baselineLayers));
	const roles = new MergedLayers([layer]).names('roles').filter(name => !name.includes('.'));
	for (const role of roles.filter(name => !isDefinedRole(name, baselineLayers)))
		for (const restriction of restrictionKeys) {
			const value = baseline.find(restriction);
			if (value && !layer.has(`roles.${role}.${restriction}`))
				layer.set(`roles.${role}.${restriction}`, value);
		}
}

const isDefinedRole = (role: string, layers: readonly ConfigLayer[]): boolean =>
	layers.some(layer => layer.has(`roles.${role}`));

function roleRejection([role = '', key]: readonly string[], value: unknown, {layers}: TrustedBaseline) {
	return key !== undefined && isRestrictionKey(key)
		? restrictionRejection(key, value, boundsOf(key, role, layers))
		: undefined;
}

/** The values that an untrusted value must not be looser than. */
function boundsOf(
	restriction: RestrictionKey,
	role: string | undefined,
	layers: readonly ConfigLayer[],
): unknown[] {
	const isUserRole = role !== undefined && isDefinedRole(role, layers);
	const stacks = isUserRole ? [withNamedRole(layers, role)] : [withDefaultRole(layers), layers];
	return stacks.map(stack => new MergedLayers(stack).find(restriction)?.value);
}

/** An unset or unknown bound counts as the strictest value, since the default of Codex may be that. */
function restrictionRejection(
	restriction: RestrictionKey,
	value: unknown,
	bounds: readonly unknown[],
): string | undefined {
	const order: readonly unknown[] = strictestFirst[restriction];
	const rank = order.indexOf(value);
	for (const bound of bounds) {
		if (value === bound || (rank >= 0 && rank <= Math.max(0, order.indexOf(bound)))) continue;
		if (value !== undefined && rank < 0) return `it is not one of ${order.join(', ')}`;
		return `it is less strict than ${describeBound(bound)}`;
	}
	return;
}

const describeBound = (bound: unknown): string =>
	bound === undefined
		? "Codex's own default, which may be the strictest value"
		: `${printable(shortened(String(bound)))}, which applies without this file`;

function autoMailRejection(identity: string, {settingOf, layers}: TrustedBaseline): string | undefined {
	const now = new MergedLayers(layers).find(`perThreadAutoMail.${identity}`)?.value ?? settingOf('autoMail');
	return now === true ? undefined : allowOff(true, now);
}

/** Prevents mail to a member, or to an alias of the user, from reaching another recipient. */
function aliasRejection(
	name: string,
	value: unknown,
	{members, layers}: TrustedBaseline,
): string | undefined {
	const userAlias = new MergedLayers(layers).find(`aliases.${name}`);
	if (userAlias) return userAlias.value === value ? undefined : 'your own configuration has this alias';
	return isTeamMember(name, members) ? 'a member of the team has this name' : undefined;
}

/**
 * A session with the name of a member would read the member's mail. Members with a mark are sessions of
 * bridge.
 */
const identityRejection = (identity: string, {members, settingOf}: TrustedBaseline): string | undefined =>
	identity !== settingOf('identity') &&
	isTeamMember(
		identity,
		members.filter(({mark}) => mark === undefined),
	)
		? 'a member of the team has this name'
		: undefined;

/** Names that differ only in case are the same. */
export const isTeamMember = (name: string, members: readonly TeamMember[]): boolean =>
	members.some(member => member.name.toLowerCase() === name.toLowerCase());

const isRestrictionKey = (name: string): name is RestrictionKey => Object.hasOwn(strictestFirst, name);
const fileKeyOf = (restriction: RestrictionKey): string =>
	restriction === 'sandbox' ? restriction : 'approval_policy';
