import {resolve} from 'node:path';
import {BridgeError} from '../../core/errors.js';
import {baseFolder, claudeFolder} from '../paths.js';
import {
	findRepositoryFile,
	readFoundFile,
	readNamedFile,
	readUserFile,
	type ServeConfigFile,
} from './files.js';
import {environmentLayer, flagLayer} from './flags-and-environment.js';
import type {ConfigLayer} from './layer.js';
import {
	formatSource,
	MergedLayers,
	withDefaultRole,
	withNamedRole,
	withResumedRole,
} from './merged-layers.js';
import {
	ignoreSelfTrust,
	ignoreUntrustedSettings,
	isTrustedFolder,
	type RepositoryContext,
} from './repository-trust.js';
import {coreSettings, pluginSettings, roleSettings} from './settings.js';
import type {
	LoadedServeConfig,
	LoadServeConfigOptions,
	RolePreset,
	ServeConfig,
	ServeFlags,
} from './types.js';

export type {
	LoadedServeConfig,
	LoadServeConfigOptions,
	RolePreset,
	ServeConfig,
	ServeFlags,
} from './types.js';

/**
 * Loads the configuration of sessions. Precedence: flags, environment variables, the explicit file, the
 * repository's file, the user's file, defaults.
 */
export async function loadServeConfig({flags, env, cwd}: LoadServeConfigOptions): Promise<LoadedServeConfig> {
	const base = resolve(cwd, baseFolder(env));
	const claude = resolve(cwd, claudeFolder(env));
	const environment = environmentLayer(env, cwd);
	const path = flags.config ?? env.ATM_CONFIG?.trim();
	const explicitFile = path ? await readNamedFile(resolve(cwd, path)) : undefined;
	const userFile = await readUserFile(base);
	const fromFlags = flagLayer(flags, cwd);
	const above = [fromFlags, environment.layer, ...(explicitFile ? [explicitFile.layer] : [])];
	const below = userFile ? [userFile.layer] : [];
	const repository = await loadRepositoryFile(cwd, flags, {above, below, claude});
	const files = [explicitFile, repository, userFile].filter(file => file !== undefined);
	const layers = [...above, ...(repository ? [repository.layer] : []), ...below];
	const warnings = [...environment.warnings, ...files.flatMap(file => file.warnings)];
	if (flags.isFast && flags.model === undefined)
		warnings.push(...applyFastModel(fromFlags, new MergedLayers(layers)));
	const merged = new MergedLayers(withDefaultRole(layers));
	merged.origins.set('base', env.ATM_HOME?.trim() ? '$ATM_HOME' : 'default');
	const config = {
		...resolveServeConfig(merged, layers, base, claude),
		isTeamNamed: merged.origins.get('team') !== 'default',
		weakAliases: new Set(
			repository?.isUntrusted ? new MergedLayers([repository.layer]).names('aliases') : [],
		),
	};
	warnings.push(...unknownRoleWarnings(config, merged.origins.get('role')));
	return {config, origins: merged.origins, warnings, files: files.map(file => file.path)};
}

async function loadRepositoryFile(
	cwd: string,
	{isTrusted = false}: ServeFlags,
	others: Omit<RepositoryContext, 'root'>,
): Promise<(ServeConfigFile & {readonly isUntrusted: boolean}) | undefined> {
	const found = findRepositoryFile(cwd);
	const file = found && (await readFoundFile(found.path));
	if (!found || !file) return;
	const {root} = found;
	const trustedLists = [...others.above, ...others.below].map(
		layer => layer.get('trustedDirectories')?.value ?? [],
	);
	const isUntrusted = !(isTrusted || (await isTrustedFolder(root, trustedLists.flat() as string[])));
	const checked = ignoreSelfTrust(file);
	return {
		...(isUntrusted ? await ignoreUntrustedSettings(checked, {...others, root}) : checked),
		isUntrusted,
	};
}

function resolveServeConfig(
	merged: MergedLayers,
	layers: readonly ConfigLayer[],
	base: string,
	claude: string,
): Omit<ServeConfig, 'weakAliases' | 'isTeamNamed'> {
	const values = [...coreSettings, ...pluginSettings].map(({name, fallback}) => [
		name,
		merged.value(name, fallback),
	]);
	const table = (prefix: string): Map<string, unknown> =>
		new Map(merged.names(prefix).map(name => [name, merged.value(`${prefix}.${name}`, undefined)]));
	const roles = merged
		.names('roles')
		.filter(name => !name.includes('.'))
		.map(name => [name, resolveRole(merged, name)] as const);
	const settingsIn = (withRole: typeof withNamedRole) =>
		new Map(roles.map(([name]) => [name, new MergedLayers(withRole(layers, name)).settings()] as const));
	return {
		...(Object.fromEntries(values) as ServeConfig),
		base,
		claude,
		aliases: table('aliases') as Map<string, string>,
		perThreadAutoMail: table('perThreadAutoMail') as Map<string, boolean>,
		roles: new Map(roles),
		namedRoles: settingsIn(withNamedRole),
		resumedRoles: settingsIn(withResumedRole),
	};
}

function resolveRole(merged: MergedLayers, role: string): RolePreset {
	const values = roleSettings.map(({name}) => {
		const value = merged.value(`roles.${role}.${name}`, undefined);
		if (value === undefined) merged.origins.delete(`roles.${role}.${name}`);
		return [name, value];
	});
	return Object.fromEntries(values) as RolePreset;
}

/** Sets the model of `--fast` in the layer of the flags. Returns warnings. */
function applyFastModel(flags: ConfigLayer, merged: MergedLayers): string[] {
	const model = merged.find('fastModel');
	if (!model)
		return ['--fast has no effect: the configuration has no fast_model. Set fast_model, or use --model.'];
	flags.set('model', {value: model.value, source: '--fast,', key: formatSource(model)});
	return [];
}

/** Checks that the default role exists. Throws if it comes from a flag, and returns a warning otherwise. */
function unknownRoleWarnings({role, roles}: ServeConfig, origin: string | undefined): string[] {
	if (role === undefined || roles.has(role)) return [];
	const roleNames = [...roles.keys()].join(', ');
	const roleList = roleNames === '' ? 'No role is configured.' : `The configured roles are ${roleNames}.`;
	const remedy = 'Add [plugins.codex-mcp.roles.NAME] to .atm.toml, or choose another role.';
	if (origin === '--role')
		throw new BridgeError('ERR_CONFIG_INVALID', `--role ${role} is not a role. ${roleList}`, remedy);
	return [`${origin}: ${role} is not a role. ${roleList} Calls without a role fail.`];
}
