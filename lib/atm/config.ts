import {resolve} from 'node:path';
import {type ConfigFile, foundFile, globalFile, namedFile, repositoryFile} from './files.js';
import {environmentLayer, flagLayer} from './given.js';
import type {Given, Layer} from './layer.js';
import {baseFolder, claudeFolder} from './paths.js';
import {coreSettings, pluginSettings, roleSettings} from './settings.js';
import {isTrustedFolder, withoutUntrusted} from './trust.js';
import type {AtmConfig, AtmConfigOptions, AtmFlags, LoadedAtmConfig, Role} from './types.js';

export type {AtmConfig, AtmConfigOptions, AtmFlags, LoadedAtmConfig, Role} from './types.js';

/**
 * The configuration of sessions: flags, variables, the named file, the repository's, the user's own and defaults, the
 * first that says something about a key.
 */
export async function loadAtmConfig({flags, env, cwd}: AtmConfigOptions): Promise<LoadedAtmConfig> {
	const base = resolve(cwd, baseFolder(env));
	const environment = environmentLayer(env, cwd);
	const path = flags.config ?? env.ATM_CONFIG?.trim();
	const named = path ? await namedFile(resolve(cwd, path)) : undefined;
	const own = await globalFile(base);
	const repository = await repositoryLayer(cwd, flags, [named, own]);
	const files = [named, repository, own].filter(file => file !== undefined);
	const layers = [flagLayer(flags, cwd), environment.layer, ...files.map(({layer}) => layer)];
	const warnings = [...environment.warnings, ...files.flatMap(file => file.warnings)];
	const merged = new Merged(layers);
	merged.origins.set('base', env.ATM_HOME?.trim() ? '$ATM_HOME' : 'default');
	const config = configOf(merged, base, resolve(cwd, claudeFolder(env)));
	const fast = flags.isFast && flags.model === undefined ? fastModel(config, merged.origins, warnings) : {};
	warnings.push(...doubtful(config, merged.origins));
	return {
		config: {...config, ...fast},
		origins: merged.origins,
		warnings,
		files: files.map(file => file.path),
	};
}

async function repositoryLayer(
	cwd: string,
	{isTrusted = false}: AtmFlags,
	vouching: ReadonlyArray<ConfigFile | undefined>,
): Promise<ConfigFile | undefined> {
	const found = repositoryFile(cwd);
	const file = found && (await foundFile(found.path));
	if (!found || !file) return;
	const lists = vouching.map(each => each?.layer.get('trustedDirectories')?.value ?? []);
	const trusted = lists.flat() as string[];
	return withoutUntrusted(file, found.root, isTrusted || (await isTrustedFolder(found.root, trusted)));
}

/** Layers as one: of each key what the first of them says. */
class Merged {
	readonly #layers: readonly Layer[];
	readonly origins = new Map<string, string>();

	constructor(layers: readonly Layer[]) {
		this.#layers = layers;
	}

	value(name: string, fallback: unknown): unknown {
		const given = this.#layers.map(layer => layer.get(name)).find(found => found !== undefined);
		this.origins.set(name, given ? placeOf(given) : 'default');
		return given ? given.value : fallback;
	}

	/** All keys of a table whose keys are names. */
	names(prefix: string): string[] {
		const all = this.#layers.flatMap(layer => [...layer.keys()]);
		const found = all.filter(key => key.startsWith(`${prefix}.`)).map(key => key.slice(prefix.length + 1));
		return [...new Set(found)].sort();
	}
}

const placeOf = ({from, key}: Given): string => (from === key ? from : `${from} ${key}`);

function configOf(merged: Merged, base: string, claude: string): AtmConfig {
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
	return {
		...(Object.fromEntries(values) as AtmConfig),
		...{base, claude},
		aliases: table('aliases') as Map<string, string>,
		perThreadAutoMail: table('perThreadAutoMail') as Map<string, boolean>,
		roles: new Map(roles),
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

function fastModel(
	{fastModel: model}: AtmConfig,
	origins: Map<string, string>,
	warnings: string[],
): Partial<AtmConfig> {
	if (model === undefined) {
		warnings.push('--fast: there is no fast_model in the configuration, so it changes nothing.');
		return {};
	}
	origins.set('model', `--fast, ${origins.get('fastModel')}`);
	return {model};
}

/** What is well-formed, but cannot do what it says. */
function doubtful(config: AtmConfig, origins: ReadonlyMap<string, string>): string[] {
	const policies = [...config.roles].map(([name, role]) => [`roles.${name}.`, role] as const);
	const warnings = [['', config] as const, ...policies]
		.filter(([, {approvalPolicy}]) => approvalPolicy === 'on-failure')
		.map(([prefix]) => {
			const place = origins.get(`${prefix}approvalPolicy`);
			return `${place}: Codex refuses approval_policy on-failure since mid-2026. Use on-request or never.`;
		});
	if (config.role !== undefined && !config.roles.has(config.role)) {
		const known = [...config.roles.keys()].join(', ') || 'none';
		warnings.push(`${origins.get('role')}: there is no role ${config.role}. There are: ${known}.`);
	}
	return warnings;
}
