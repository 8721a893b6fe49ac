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
	/** The path in `--config`. */
	readonly config: string | undefined;
	readonly session: ServeFlags;
	readonly nodeVersion: string;
	/** Resolves when the user interrupts the checks. */
	readonly stopped: Promise<unknown>;
};

const MIN_NODE = 20;

/**
 * Checks everything that bridge needs. Changes nothing, and starts only servers of a trusted configuration.
 */
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
	/** Whether the configuration sets `listen`. */
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
			warningFinding(about, each, 'bridge config shows the effective values.'),
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
	/** Whether sessions are configured or have been used. */
	readonly isUsed: boolean;
};

async function checkSessionConfig({env, cwd, session}: DoctorOptions): Promise<SessionConfigCheck> {
	const about = 'Sessions';
	try {
		const {config, warnings, files, origins} = await loadServeConfig({flags: session, env, cwd});
		const isUsed = hasSessionSettings(origins) || (await listTeamFolders(config.base)).length > 0;
		const warningFindings = warnings.map(each =>
			warningFinding(about, each, 'bridge config shows the effective values.'),
		);
		const text =
			files.length > 0
				? `team ${config.team}, from ${files.join(', ')}`
				: `team ${config.team}, no configuration file, all values are defaults`;
		return {
			findings: [isUsed ? okFinding(about, text) : infoFinding(about, text), ...warningFindings],
			config,
			isUsed,
		};
	} catch (reason) {
		return {findings: [configErrorFinding(about, reason)], isUsed: true};
	}
}

/**
 * Returns whether a setting that only sessions use is set. Other programs also use those of mail and teams.
 */
const hasSessionSettings = (origins: ReadonlyMap<string, string>): boolean =>
	[...origins].some(([name, origin]) => origin !== 'default' && !sharedSettings.has(name));

const sharedSettings: ReadonlySet<string> = new Set(['base', ...coreSettings.map(({name}) => name)]);

function configErrorFinding(about: string, reason: unknown): DoctorFinding {
	if (!(reason instanceof BridgeError)) throw reason;
	return errorFinding(about, reason.message.trim(), reason.remedy);
}

function checkProcesses(): DoctorFinding[] {
	const pids = findOrphans();
	if (pids.length === 0) return [okFinding('Processes', 'no leftover processes')];
	const text = `a bridge process that was killed left ${pids.length} child processes running: ${pids.join(', ')}`;
	return [
		warningFinding(
			'Processes',
			text,
			`Stop them with: kill ${pids.join(' ')}. Any bridge command that runs for at least a second also stops them.`,
		),
	];
}
