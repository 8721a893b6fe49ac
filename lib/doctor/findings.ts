import {loadAtmConfig} from '../atm/config.js';
import {coreSettings} from '../atm/settings.js';
import type {AtmConfig, AtmFlags} from '../atm/types.js';
import {defaultListen, type Listen} from '../config/listen.js';
import {loadConfig} from '../config/load.js';
import type {ServiceConfig} from '../config/schema.js';
import {BridgeError} from '../errors.js';
import {teamsIn} from '../sessions/look.js';
import {orphans} from '../transports/process-tree.js';
import {lookAtCodex} from './codex.js';
import {error, type Finding, info, ok, warning} from './finding.js';
import {lookAtGateway} from './gateway.js';
import {lookAtEachServer} from './servers.js';
import {lookAtState} from './state.js';

export type {Finding} from './finding.js';

export type DoctorOptions = {
	readonly env: NodeJS.ProcessEnv;
	readonly cwd: string;
	/** The configuration file that was named, of servers. */
	readonly config: string | undefined;
	readonly session: AtmFlags;
	readonly nodeVersion: string;
	/** Resolves when the user wants it to end. */
	readonly stopped: Promise<unknown>;
};

const MIN_NODE = 20;

/** Looks at everything that bridge needs. Nothing is changed by that, and only servers of a trusted file are started. */
export async function findings(options: DoctorOptions): Promise<Finding[]> {
	const servers = await lookAtServers(options);
	const sessions = await lookAtSessions(options);
	const {config} = sessions;
	const parts = await Promise.all([
		config ? lookAtCodex(config.codexBin, options.cwd, sessions.isUsed) : [],
		lookAtEachServer(servers.services, options.stopped),
		config ? lookAtState(config.base, sessions.isUsed) : [],
		lookAtGateway(servers.listen, servers.hasAddress),
	]);
	const [codex = [], each = [], state = [], gateway = []] = parts;
	return [
		...lookAtNode(options.nodeVersion),
		...codex,
		...servers.found,
		...each,
		...sessions.found,
		...state,
		...lookAtProcesses(),
		...gateway,
	];
}

function lookAtNode(version: string): Finding[] {
	const isFine = Number(version.split('.')[0]) >= MIN_NODE;
	return [
		isFine
			? ok('Node', version)
			: error('Node', `${version} is too old.`, `Install Node ${MIN_NODE} or later.`),
	];
}

type Servers = {
	readonly found: Finding[];
	readonly listen: Listen;
	/** Whether the configuration has an address for the gateway. */
	readonly hasAddress: boolean;
	readonly services: readonly ServiceConfig[];
};

async function lookAtServers({config, env, cwd}: DoctorOptions): Promise<Servers> {
	const about = 'Servers';
	try {
		const loaded = await loadConfig({named: config, environment: env, cwd});
		const {file, warnings} = loaded;
		const services = [...loaded.config.services.values()];
		const text =
			file === undefined
				? 'no configuration file, which only gateway and hub need'
				: `${services.length} in ${file}`;
		const told = warnings.map(each => warning(about, each, 'bridge config shows what is in force.'));
		return {
			found: [file === undefined ? info(about, text) : ok(about, text), ...told],
			listen: loaded.config.listen,
			hasAddress: loaded.source(['listen']) !== undefined,
			services,
		};
	} catch (reason) {
		return {found: [wrong(about, reason)], listen: defaultListen, hasAddress: false, services: []};
	}
}

type Sessions = {
	readonly found: Finding[];
	readonly config?: AtmConfig;
	/** Whether sessions are configured, or there have been some. */
	readonly isUsed: boolean;
};

async function lookAtSessions({env, cwd, session}: DoctorOptions): Promise<Sessions> {
	const about = 'Sessions';
	try {
		const {config, warnings, files, origins} = await loadAtmConfig({flags: session, env, cwd});
		const isUsed = configuresSessions(origins) || (await teamsIn(config.base)).length > 0;
		const told = warnings.map(each => warning(about, each, 'bridge config shows what is in force.'));
		const text =
			files.length > 0
				? `team ${config.team}, from ${files.join(', ')}`
				: `team ${config.team}, no configuration file: all is as by default`;
		return {found: [isUsed ? ok(about, text) : info(about, text), ...told], config, isUsed};
	} catch (reason) {
		return {found: [wrong(about, reason)], isUsed: true};
	}
}

/** Whether a value is given that only sessions use. The others are of mail and teams, which other programs use as well. */
const configuresSessions = (origins: ReadonlyMap<string, string>): boolean =>
	[...origins].some(([name, origin]) => origin !== 'default' && !shared.has(name));

const shared: ReadonlySet<string> = new Set(['base', ...coreSettings.map(({name}) => name)]);

function wrong(about: string, reason: unknown): Finding {
	if (!(reason instanceof BridgeError)) throw reason;
	return error(about, reason.message.trim(), reason.remedy);
}

function lookAtProcesses(): Finding[] {
	const pids = orphans();
	if (pids.length === 0) return [ok('Processes', 'none was left behind')];
	const text = `a bridge that was killed has left ${pids.length} running: ${pids.join(', ')}`;
	return [
		warning(
			'Processes',
			text,
			`End them with kill ${pids.join(' ')}; the next bridge that runs for a second does so, too.`,
		),
	];
}
