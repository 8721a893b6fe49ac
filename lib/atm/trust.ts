import {findTeam} from '../mail/roster.js';
import type {Member} from '../mail/types.js';
import {shortened} from '../printable.js';
import {type ConfigFile, isWithin} from './files.js';
import type {Given, Layer} from './layer.js';
import {Merged} from './merged.js';
import {coreSettings, pluginSettings} from './settings.js';
import {completeRoles, looserRole, objectionTo, type Shadowed} from './untrusted.js';

/** The context of a repository's file: the layers before and after it, and the teams. */
export type Surroundings = {
	/** The repository that the file is in. */
	readonly root: string;
	/** Flags, variables, and the named file. */
	readonly above: readonly Layer[];
	/** The user's own file. */
	readonly below: readonly Layer[];
	/** Claude Code's folder, which has the teams. */
	readonly claude: string;
};

/** A repository's file without `trusted_directories`: a repository must not trust itself. */
export function withoutSelfTrust(file: ConfigFile): ConfigFile {
	const given = file.layer.get('trustedDirectories');
	if (!given) return file;
	const layer = new Map(file.layer);
	layer.delete('trustedDirectories');
	const remedy = 'List trusted folders in your own configuration.';
	const warning = `${file.path}: ${given.key} is ignored: a repository cannot trust itself. ${remedy}`;
	return {...file, layer, warnings: [...file.warnings, warning]};
}

/** A repository's file without the settings that only a trusted file may have. Adds a warning for each. */
export async function withoutUntrusted(file: ConfigFile, around: Surroundings): Promise<ConfigFile> {
	const layer = new Map(file.layer);
	const refused: string[] = [];
	const refuse = (name: string, {key}: Given, reason: string): void => {
		layer.delete(name);
		refused.push(`${file.path}: ${shortened(key)} is ignored: ${reason}. ${remedyFor(around.root)}`);
	};
	const shadowed = await shadowedBy(file.layer, around);
	for (const [name, given] of file.layer) {
		const reason = objectionTo(name, given.value, shadowed);
		if (reason !== undefined) refuse(name, given, reason);
	}
	completeRoles(layer, shadowed.layers);
	// Last: which role is harmless depends on the settings that are left.
	const role = layer.get('role');
	const reason = role && looserRole([...around.above, layer, ...around.below], shadowed.layers);
	if (reason !== undefined) refuse('role', role as Given, reason);
	const left = refused.length - MAX_WARNINGS;
	const more = left > 0 ? [`${file.path}: ${left} more settings are ignored. ${remedyFor(around.root)}`] : [];
	return {...file, layer, warnings: [...file.warnings, ...refused.slice(0, MAX_WARNINGS), ...more]};
}

/** Ignored settings that are listed for one file: a hostile file may have any number. */
const MAX_WARNINGS = 50;

const remedyFor = (root: string): string =>
	`If you trust ${root}, use --trust, or add it to trusted_directories in your own configuration.`;

/** The configuration that holds without the file. */
async function shadowedBy(layer: Layer, {above, below, claude}: Surroundings): Promise<Shadowed> {
	const layers = [...above, ...below];
	const settings = [...coreSettings, ...pluginSettings];
	const merged = new Merged(layers);
	const needsMembers = layer.has('identity') || [...layer.keys()].some(key => key.startsWith('aliases.'));
	const team = new Merged([...above, layer, ...below]).value('team', 'default');
	return {
		layers,
		members: needsMembers ? await membersOf(claude, String(team)) : [],
		settingOf: name => merged.value(name, settings.find(setting => setting.name === name)?.fallback),
	};
}

/** The members of a team, if its roster can be read. Mail checks them again before it uses an alias. */
const membersOf = async (claude: string, team: string): Promise<readonly Member[]> =>
	(await findTeam(claude, team).catch(() => undefined))?.members ?? [];

/** Whether a folder is one of those that the user trusts, or in one. */
export async function isTrustedFolder(folder: string, trusted: readonly string[]): Promise<boolean> {
	for (const each of trusted) if (await isWithin(folder, each)) return true;
	return false;
}
