import {readFileSync} from 'node:fs';
import {homedir} from 'node:os';
import process from 'node:process';
import {parse as parseToml} from 'smol-toml';
import {parse as parseYaml} from 'yaml';
import {showAtmConfig, shownValues} from '../lib/atm/show.js';
import type {LoadedAtmConfig} from '../lib/atm/types.js';
import {findFile} from '../lib/config/find.js';
import {type Loaded, loadConfig} from '../lib/config/load.js';
import {showConfig} from '../lib/config/show.js';
import {distrust} from '../lib/config/trust.js';
import {TrustStore} from '../lib/config/trust-store.js';
import {BridgeError} from '../lib/errors.js';
import type {Flags, Invocation} from './flags.js';
import {atmConfig, jsonText, tell, write} from './own-output.js';

/** `bridge config`: the configuration that is in force, secrets hidden, or all that is wrong with it. */
export async function runConfig({words, server, flags}: Invocation): Promise<number> {
	const [, ...rest] = words;
	if (rest.length > 0 || server) throw superfluous(rest[0] ?? '--');
	const {check, config} = flags;
	if (check !== undefined && config !== undefined)
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			'--check and --config both name a file.',
			'Give one of the two.',
		);
	const both = await load(flags, check ?? config);
	await warnOfDistrust(both.servers);
	await print(both, flags.companion.isJson);
	return 0;
}

type Both = {readonly servers: Loaded | undefined; readonly sessions: LoadedAtmConfig | undefined};

/** What was asked for: with --check only what is in that file, else all that is in force. */
async function load(flags: Flags, named: string | undefined): Promise<Both> {
	const {own, sessions: file} = whichOf(named);
	const servers = file === undefined ? await loadConfig({named: own, allowUntrusted: true}) : undefined;
	const isWanted = flags.check === undefined || file !== undefined;
	return {servers, sessions: isWanted ? await atmConfig(flags, file) : undefined};
}

async function print({servers, sessions}: Both, isJson: boolean): Promise<void> {
	for (const warning of [...(servers?.warnings ?? []), ...(sessions?.warnings ?? [])]) await tell(warning);
	const texts = [servers && showConfig(servers), sessions && showAtmConfig(sessions)];
	const text = texts.filter(each => each !== undefined).join('\n');
	await write(process.stdout, isJson ? json({servers, sessions}) : text);
}

/** Warns of a file that gateway and hub would reject. It is still shown, since nothing in it is used here. */
async function warnOfDistrust(loaded: Loaded | undefined): Promise<void> {
	const found = findFile({environment: {}, cwd: process.cwd(), home: homedir()});
	if (!found?.needsTrust || loaded?.file !== found.file) return;
	const error = await distrust(new TrustStore(process.env, homedir()), found.file, process.env);
	if (error) await tell(error.sentence);
}

/** The tables that only files about sessions have. */
const tables = ['core', 'atm', 'plugins', 'aliases'];

/** Whether a file that was named is about servers or about sessions: it can be either. */
function whichOf(named: Flags['config']): {own?: string | undefined; sessions?: string} {
	if (named === undefined || !named.endsWith('.toml')) return {own: named};
	try {
		const keys = Object.keys(parseToml(readFileSync(named, 'utf8')));
		return keys.some(key => tables.includes(key)) ? {sessions: named} : {own: named};
	} catch {
		// What is wrong with it is told by whoever reads it.
		return named.endsWith('.atm.toml') ? {sessions: named} : {own: named};
	}
}

function json({servers, sessions}: Both): string {
	const values =
		sessions && shownValues(sessions).map(({path, value, from}) => [path.join('.'), {value, from}]);
	const serve = sessions && {
		...{files: sessions.files, warnings: sessions.warnings},
		values: Object.fromEntries(values ?? []),
	};
	const bridge = servers && {file: servers.file ?? null, values: parseYaml(showConfig(servers))};
	return jsonText({serve, bridge});
}

const superfluous = (word: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`bridge config has no use for ${word}.`,
		`To look at a file, write: bridge config --config ${word.startsWith('-') ? 'FILE' : word}`,
	);
