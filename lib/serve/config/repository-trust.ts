import {shortened} from '../../util/printable.js';
import {findTeam} from '../mail/roster.js';
import type {TeamMember} from '../mail/types.js';
import {isWithin, type ServeConfigFile} from './files.js';
import type {ConfigLayer, LayerValue} from './layer.js';
import {MergedLayers} from './merged-layers.js';
import {coreSettings, pluginSettings} from './settings.js';
import {
	completeRoles,
	looserRoleReason,
	rejectionReason,
	type TrustedBaseline,
} from './untrusted-settings.js';

export type RepositoryContext = {
	readonly root: string;
	/** The layers of higher precedence: flags, variables and the explicit file. */
	readonly above: readonly ConfigLayer[];
	/** The layers of lower precedence: the user's file. */
	readonly below: readonly ConfigLayer[];
	/** The folder of Claude Code, which contains the teams. */
	readonly claude: string;
};

/** Removes `trusted_directories` from a repository's file: a repository must not trust itself. */
export function ignoreSelfTrust(file: ServeConfigFile): ServeConfigFile {
	const trusted = file.layer.get('trustedDirectories');
	if (!trusted) return file;
	const layer = new Map(file.layer);
	layer.delete('trustedDirectories');
	const remedy = 'List trusted folders in your own configuration.';
	const warning = `${file.path}: ${trusted.key} is ignored: a repository cannot trust itself. ${remedy}`;
	return {...file, layer, warnings: [...file.warnings, warning]};
}

/** Removes the settings that only a trusted file may have. Adds a warning for each. */
export async function ignoreUntrustedSettings(
	file: ServeConfigFile,
	context: RepositoryContext,
): Promise<ServeConfigFile> {
	const layer = new Map(file.layer);
	const ignored: string[] = [];
	const ignore = (name: string, {key}: LayerValue, reason: string): void => {
		layer.delete(name);
		ignored.push(`${file.path}: ${shortened(key)} is ignored: ${reason}. ${remedyFor(context.root)}`);
	};
	const baseline = await baselineOf(file.layer, context);
	for (const [name, value] of file.layer) {
		const reason = rejectionReason(name, value.value, baseline);
		if (reason !== undefined) ignore(name, value, reason);
	}
	completeRoles(layer, baseline.layers);
	// The role is checked last, because its effect depends on the remaining settings.
	const role = layer.get('role');
	const reason = role && looserRoleReason([...context.above, layer, ...context.below], baseline.layers);
	if (reason !== undefined) ignore('role', role as LayerValue, reason);
	const unlisted = ignored.length - MAX_WARNINGS;
	const more =
		unlisted > 0 ? [`${file.path}: ${unlisted} more settings are ignored. ${remedyFor(context.root)}`] : [];
	return {...file, layer, warnings: [...file.warnings, ...ignored.slice(0, MAX_WARNINGS), ...more]};
}

/** Limit on listed ignored settings, since a hostile file may have any number of them. */
const MAX_WARNINGS = 50;

const remedyFor = (root: string): string =>
	`If you trust ${root}, use --trust, or add it to trusted_directories in your own configuration.`;

async function baselineOf(
	layer: ConfigLayer,
	{above, below, claude}: RepositoryContext,
): Promise<TrustedBaseline> {
	const layers = [...above, ...below];
	const settings = [...coreSettings, ...pluginSettings];
	const merged = new MergedLayers(layers);
	const needsMembers = layer.has('identity') || [...layer.keys()].some(key => key.startsWith('aliases.'));
	const team = new MergedLayers([...above, layer, ...below]).value('team', 'default');
	return {
		layers,
		members: needsMembers ? await readMembers(claude, String(team)) : [],
		settingOf: name => merged.value(name, settings.find(setting => setting.name === name)?.fallback),
	};
}

/**
 * The members of a team, or none if its roster cannot be read. Mail checks them again before it uses an
 * alias.
 */
const readMembers = async (claude: string, team: string): Promise<readonly TeamMember[]> =>
	(await findTeam(claude, team).catch(() => undefined))?.members ?? [];

/** Whether a folder is a trusted folder or inside one. */
export async function isTrustedFolder(folder: string, trusted: readonly string[]): Promise<boolean> {
	for (const each of trusted) if (await isWithin(folder, each)) return true;
	return false;
}
