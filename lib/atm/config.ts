import {resolve} from 'node:path';
import {BridgeError} from '../errors.js';
import {type ConfigFile, foundFile, globalFile, namedFile, repositoryFile} from './files.js';
import {environmentLayer, flagLayer} from './given.js';
import type {Layer} from './layer.js';
import {Merged, placeOf, withDefaultRole, withKeptRole, withNamedRole} from './merged.js';
import {baseFolder, claudeFolder} from './paths.js';
import {coreSettings, pluginSettings, roleSettings} from './settings.js';
import {isTrustedFolder, type Surroundings, withoutSelfTrust, withoutUntrusted} from './trust.js';
import type {AtmConfig, AtmConfigOptions, AtmFlags, LoadedAtmConfig, Role} from './types.js';

export type {AtmConfig, AtmConfigOptions, AtmFlags, LoadedAtmConfig, Role} from './types.js';

/**
 * The configuration of sessions: flags, variables, the named file, the repository's, the user's own and defaults, the
 * first that says something about a key.
 */
export async function loadAtmConfig({flags, env, cwd}: AtmConfigOptions): Promise<LoadedAtmConfig> {
	const base = resolve(cwd, baseFolder(env));
	const claude = resolve(cwd, claudeFolder(env));
	const environment = environmentLayer(env, cwd);
	const path = flags.config ?? env.ATM_CONFIG?.trim();
	const named = path ? await namedFile(resolve(cwd, path)) : undefined;
	const own = await globalFile(base);
	const given = flagLayer(flags, cwd);
	const above = [given, environment.layer, ...(named ? [named.layer] : [])];
	const below = own ? [own.layer] : [];
	const repository = await repositoryLayer(cwd, flags, {above, below, claude});
	const files = [named, repository, own].filter(file => file !== undefined);
	const layers = [...above, ...(repository ? [repository.layer] : []), ...below];
	const warnings = [...environment.warnings, ...files.flatMap(file => file.warnings)];
	if (flags.isFast && flags.model === undefined) warnings.push(...takeFastModel(given, new Merged(layers)));
	const merged = new Merged(withDefaultRole(layers));
	merged.origins.set('base', env.ATM_HOME?.trim() ? '$ATM_HOME' : 'default');
	const config = {
		...configOf(merged, layers, base, claude),
		isTeamNamed: merged.origins.get('team') !== 'default',
		weakAliases: new Set(repository?.isUntrusted ? new Merged([repository.layer]).names('aliases') : []),
	};
	warnings.push(...unknownRole(config, merged.origins.get('role')));
	return {config, origins: merged.origins, warnings, files: files.map(file => file.path)};
}

async function repositoryLayer(
	cwd: string,
	{isTrusted = false}: AtmFlags,
	others: Omit<Surroundings, 'root'>,
): Promise<(ConfigFile & {readonly isUntrusted: boolean}) | undefined> {
	const found = repositoryFile(cwd);
	const file = found && (await foundFile(found.path));
	if (!found || !file) return;
	const {root} = found;
	const lists = [...others.above, ...others.below].map(layer => layer.get('trustedDirectories')?.value ?? []);
	const isUntrusted = !(isTrusted || (await isTrustedFolder(root, lists.flat() as string[])));
	const checked = withoutSelfTrust(file);
	return {...(isUntrusted ? await withoutUntrusted(checked, {...others, root}) : checked), isUntrusted};
}

function configOf(
	merged: Merged,
	layers: readonly Layer[],
	base: string,
	claude: string,
): Omit<AtmConfig, 'weakAliases' | 'isTeamNamed'> {
	const values = [...coreSettings, ...pluginSettings].map(({name, fallback}) => [
		name,
		merged.value(name, fallback),
	]);
	const table = (prefix: string): Map<string, unknown> =>
		new Map(merged.names(prefix).map(name => [name, merged.value(`${prefix}.${name}`, undefined)]));
	const roles = merged
		.names('roles')
		.filter(name => !name.includes('.'))
		.map(name => [name, roleOf(merged, name)] as const);
	const settingsIn = (rank: typeof withNamedRole) =>
		new Map(roles.map(([name]) => [name, new Merged(rank(layers, name)).settings()] as const));
	return {
		...(Object.fromEntries(values) as AtmConfig),
		base,
		claude,
		aliases: table('aliases') as Map<string, string>,
		perThreadAutoMail: table('perThreadAutoMail') as Map<string, boolean>,
		roles: new Map(roles),
		namedRoles: settingsIn(withNamedRole),
		keptRoles: settingsIn(withKeptRole),
	};
}

function roleOf(merged: Merged, role: string): Role {
	const values = roleSettings.map(({name}) => {
		const value = merged.value(`roles.${role}.${name}`, undefined);
		if (value === undefined) merged.origins.delete(`roles.${role}.${name}`);
		return [name, value];
	});
	return Object.fromEntries(values) as Role;
}

/** Replaces `--fast` by the `--model` that it means. Returns warnings. */
function takeFastModel(flags: Layer, merged: Merged): string[] {
	const model = merged.given('fastModel');
	if (!model)
		return ['--fast has no effect: the configuration has no fast_model. Set fast_model, or use --model.'];
	flags.set('model', {value: model.value, from: '--fast,', key: placeOf(model)});
	return [];
}

/** A role that does not exist: an error for a flag, else a warning. */
function unknownRole({role, roles}: AtmConfig, origin: string | undefined): string[] {
	if (role === undefined || roles.has(role)) return [];
	const known = [...roles.keys()].join(', ');
	const there = known === '' ? 'No role is configured.' : `The configured roles are ${known}.`;
	const how = 'Add [plugins.codex-mcp.roles.NAME] to .atm.toml, or choose another role.';
	if (origin === '--role')
		throw new BridgeError('ERR_CONFIG_INVALID', `--role ${role} is not a role. ${there}`, how);
	return [`${origin}: ${role} is not a role. ${there} Calls that name no role fail.`];
}
