import {defaultListenAddress, type ListenAddress} from '../../config/listen-address.js';
import {loadConfig} from '../../config/load-config.js';
import type {ServiceConfig} from '../../config/schema.js';
import {BridgeError} from '../../core/errors.js';
import {loadServeConfig} from '../../serve/config/load-serve-config.js';
import {coreSettings} from '../../serve/config/settings.js';
import type {ServeConfig, ServeFlags} from '../../serve/config/types.js';
import {listTeamFolders} from '../../serve/sessions/inspect-team.js';
import {findOrphans} from '../../util/process-tree.js';
import {checkCodex} from './check-codex.js';
import {checkGateway} from './check-gateway.js';
import {checkServers} from './check-servers.js';
import {checkState} from './check-state.js';
import {type DoctorFinding, errorFinding, infoFinding, okFinding, warningFinding} from './finding.js';

export type {DoctorFinding} from './finding.js';

type DoctorOptions = {
	readonly env: NodeJS.ProcessEnv;
	readonly cwd: string;
	/** The configuration file that was named, of servers. */
	readonly config: string | undefined;
	readonly session: ServeFlags;
	readonly nodeVersion: string;
	/** Resolves when the user wants it to end. */
	readonly stopped: Promise<unknown>;
};

const MIN_NODE = 20;

/** Looks at everything that bridge needs. Nothing is changed by that, and only servers of a trusted file are started. */
export async function runChecks(options: DoctorOptions): Promise<DoctorFinding[]> {
	const servers = await checkServerConfig(options);
	const sessions = await checkSessionConfig(options);
	const {config} = sessions;
	const parts = await Promise.all([
		config ? checkCodex(config.codexBin, options.cwd, sessions.isUsed) : [],
		checkServers(servers.services, options.stopped),
		config ? checkState(config.base, sessions.isUsed) : [],
		checkGateway(servers.listen, servers.hasAddress),
	]);
	const [codex = [], each = [], state = [], gateway = []] = parts;
	return [
		...checkNode(options.nodeVersion),
		...codex,
		...servers.findings,
		...each,
		...sessions.findings,
		...state,
		...checkProcesses(),
		...gateway,
	];
}

function checkNode(version: string): DoctorFinding[] {
	const isSupported = Number(version.split('.')[0]) >= MIN_NODE;
	return [
		isSupported
			? okFinding('Node', version)
			: errorFinding('Node', `${version} is too old.`, `Install Node ${MIN_NODE} or later.`),
	];
}

type ServerConfigCheck = {
	readonly findings: DoctorFinding[];
	readonly listen: ListenAddress;
	/** Whether the configuration has an address for the gateway. */
	readonly hasAddress: boolean;
	readonly services: readonly ServiceConfig[];
};

async function checkServerConfig({config, env, cwd}: DoctorOptions): Promise<ServerConfigCheck> {
	const about = 'Servers';
	try {
		const loaded = await loadConfig({named: config, environment: env, cwd});
		const {file, warnings} = loaded;
		const services = [...loaded.config.services.values()];
		const text =
			file === undefined
				? 'no configuration file, which only gateway and hub need'
				: `${services.length} in ${file}`;
		const warningFindings = warnings.map(each =>
			warningFinding(about, each, 'bridge config shows what is in force.'),
		);
		return {
			findings: [file === undefined ? infoFinding(about, text) : okFinding(about, text), ...warningFindings],
			listen: loaded.config.listen,
			hasAddress: loaded.source(['listen']) !== undefined,
			services,
		};
	} catch (reason) {
		return {
			findings: [configErrorFinding(about, reason)],
			listen: defaultListenAddress,
			hasAddress: false,
			services: [],
		};
	}
}

type SessionConfigCheck = {
	readonly findings: DoctorFinding[];
	readonly config?: ServeConfig;
	/** Whether sessions are configured, or there have been some. */
	readonly isUsed: boolean;
};

async function checkSessionConfig({env, cwd, session}: DoctorOptions): Promise<SessionConfigCheck> {
	const about = 'Sessions';
	try {
		const {config, warnings, files, origins} = await loadServeConfig({flags: session, env, cwd});
		const isUsed = hasSessionSettings(origins) || (await listTeamFolders(config.base)).length > 0;
		const warningFindings = warnings.map(each =>
			warningFinding(about, each, 'bridge config shows what is in force.'),
		);
		const text =
			files.length > 0
				? `team ${config.team}, from ${files.join(', ')}`
				: `team ${config.team}, no configuration file: all is as by default`;
		return {
			findings: [isUsed ? okFinding(about, text) : infoFinding(about, text), ...warningFindings],
			config,
			isUsed,
		};
	} catch (reason) {
		return {findings: [configErrorFinding(about, reason)], isUsed: true};
	}
}

/** Whether a value is given that only sessions use. The others are of mail and teams, which other programs use as well. */
const hasSessionSettings = (origins: ReadonlyMap<string, string>): boolean =>
	[...origins].some(([name, origin]) => origin !== 'default' && !sharedSettings.has(name));

const sharedSettings: ReadonlySet<string> = new Set(['base', ...coreSettings.map(({name}) => name)]);

function configErrorFinding(about: string, reason: unknown): DoctorFinding {
	if (!(reason instanceof BridgeError)) throw reason;
	return errorFinding(about, reason.message.trim(), reason.remedy);
}

function checkProcesses(): DoctorFinding[] {
	const pids = findOrphans();
	if (pids.length === 0) return [okFinding('Processes', 'none was left behind')];
	const text = `a bridge that was killed has left ${pids.length} running: ${pids.join(', ')}`;
	return [
		warningFinding(
			'Processes',
			text,
			`End them with kill ${pids.join(' ')}; the next bridge that runs for a second does so, too.`,
		),
	];
}
