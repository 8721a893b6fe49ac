import {realpath} from 'node:fs/promises';
import {homedir} from 'node:os';
import {dirname, join} from 'node:path';
import {parse as parseToml} from 'smol-toml';
import {readRegularTextFile} from '../../files/read-regular-file.js';
import type {Environment} from '../../transports/process/environment.js';
import {isObject, type JsonObject, listOf, objectOf} from '../../util/json.js';
import {type CommandContext, startsBridgeServe} from './detect-bridge-serve.js';

type BridgeEntriesOptions = {
	/** The path of the running bridge script. */
	readonly script: string;
	readonly env: Environment | NodeJS.ProcessEnv;
	/** The working folder of a session. Codex also reads the configuration files of its project. */
	readonly cwd: string;
};

/** Limit on the size of a configuration file. Larger ones are ignored. */
const MAX_BYTES = 4 * 2 ** 20;
/** Limit on the folders, from `cwd` upwards, that are searched for configuration files. */
const MAX_FOLDERS = 64;
/** Limits on the entries of a file, the words of an entry and the characters of a word. */
const MAX_ENTRIES = 1000;
const MAX_WORDS = 200;
const MAX_WORD = 4096;
/** Limit on program lookups for all entries together. After it, programs are compared by name only. */
const MAX_LOOKUPS = 200;
/** Matches the names that Codex accepts. */
const isServerName = (name: string): boolean => /^[\w-]+$/.test(name);

/**
 * Returns disabling entries, by name, for the MCP servers in the configuration of Codex that start `bridge
 * serve`. Otherwise, each session would start another `bridge serve` and another Codex.
 *
 * Each entry repeats the command: Codex rejects an entry without a command or a URL, and the original entry
 * may be in a project that Codex does not trust.
 */
export async function findBridgeEntries({script, env, cwd}: BridgeEntriesOptions): Promise<JsonObject> {
	const bridgeScript = await realpath(script).catch(() => script);
	const context: CommandContext = {bridgeScript, cwd, path: env.PATH ?? '', budget: {lookups: MAX_LOOKUPS}};
	const seenNames = new Set<string>();
	const disabled = new Map<string, JsonObject>();
	for (const file of configFiles(env, cwd))
		for (const [name, {command, args}] of await readServers(file)) {
			// The user's files come first, so that a project cannot disable their servers.
			if (seenNames.has(name) || !isServerName(name)) continue;
			seenNames.add(name);
			if (typeof command !== 'string') continue;
			const words = [command, ...listOf(args)]
				.slice(0, MAX_WORDS)
				.map(word => String(word).slice(0, MAX_WORD));
			if (await startsBridgeServe(words, context)) disabled.set(name, {command, enabled: false});
		}
	return Object.fromEntries(disabled);
}

function configFiles(env: BridgeEntriesOptions['env'], cwd: string): string[] {
	const home = env.CODEX_HOME?.trim() || join(env.HOME?.trim() || homedir(), '.codex');
	const folders = [cwd];
	for (let at = cwd; at !== dirname(at) && folders.length < MAX_FOLDERS; at = dirname(at))
		folders.push(dirname(at));
	const files = [home, '/etc/codex', ...folders.map(folder => join(folder, '.codex'))];
	return [...new Set(files)].map(folder => join(folder, 'config.toml'));
}

/** Returns no entries for a file that cannot be read or parsed. Codex reports the error. */
async function readServers(file: string): Promise<ReadonlyArray<readonly [string, JsonObject]>> {
	try {
		const text = await readRegularTextFile(await realpath(file), MAX_BYTES);
		const root = objectOf(parseToml(text ?? ''));
		const tables = [root, ...Object.values(objectOf(root.profiles)).map(objectOf)];
		const entries = tables.flatMap(table => Object.entries(objectOf(table.mcp_servers)));
		return entries.slice(0, MAX_ENTRIES).map(([name, entry]) => [name, objectOf(entry)]);
	} catch {
		return [];
	}
}

/** Adds servers to the configuration of a call. The call's own servers take precedence. */
export function addMcpServers(config: JsonObject, servers: JsonObject): JsonObject {
	const {mcp_servers: nested} = config;
	const isDefined = (name: string): boolean =>
		Object.keys(config).some(key => `${key}.`.startsWith(`mcp_servers.${name}.`)) ||
		(isObject(nested) && name in nested);
	const missing = Object.entries(servers).filter(([name]) => !isDefined(name));
	if (isObject(nested)) return {...config, mcp_servers: {...nested, ...Object.fromEntries(missing)}};
	return {...config, ...Object.fromEntries(missing.map(([name, server]) => [`mcp_servers.${name}`, server]))};
}
