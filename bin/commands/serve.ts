import {resolve} from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {type Log, logBug} from '../../lib/core/log.js';
import {PendingRequests} from '../../lib/core/requests/pending.js';
import {connect} from '../../lib/core/stage.js';
import {findBridgeEntries} from '../../lib/serve/codex/bridge-entries.js';
import {type CodexBackend, startCodexBackend} from '../../lib/serve/codex/codex-backend.js';
import {RecentStderr} from '../../lib/serve/codex/recent-stderr.js';
import type {ServeConfig} from '../../lib/serve/config/types.js';
import {mailServerEntry} from '../../lib/serve/mail/codex-server-entry.js';
import {ServeApp} from '../../lib/serve/serve-app.js';
import {sweepOrphans} from '../../lib/transports/process/sweep-orphans.js';
import {type StdioEndpoint, stdioEndpoint} from '../../lib/transports/stdio/stdio.js';
import {serveStages} from '../../pipelines/serve.js';
import {loadAtmConfigWithFlags} from '../shared/atm-config.js';
import {prefixedStderr} from '../shared/child-stderr.js';
import {defineCommand} from '../shared/cli/command.js';
import type {Options, OptionValues} from '../shared/cli/option.js';
import {
	environmentOptions,
	logOptions,
	serveOptions,
	timeoutFlag,
	versionOptions,
} from '../shared/cli/options.js';
import {explainWait} from '../shared/explain-wait.js';
import {logStdioFailure, type Observers, withObservers} from '../shared/observers.js';
import type {StopSignals} from '../shared/stop-signals.js';
import {waitForPending} from '../shared/wait-for-pending.js';

/** The time limit for pending responses after the client closes its end. Turns are limited separately. */
const GRACE_MS = 2500;
/** The time limit after a signal that follows the end of input, since SIGKILL is likely to follow. */
const SIGNAL_GRACE_MS = 1500;

const backendKinds = {auto: undefined, mcp: 'mcp-server', 'app-server': 'app-server'} as const;

const options = {
	...serveOptions,
	timeout: {...timeoutFlag, summary: 'time for one turn [300]; 0 for no limit'},
	resume: {
		value: '[ID]',
		isValueOptional: true,
		summary: 'codex_id, thread id or identity; without ID, the last session of the identity',
		read: (name, input) => input.single(name),
	},
	env: {
		...environmentOptions.env,
		summary: 'sets a variable for Codex; --env NAME passes on your value. Repeatable',
	},
	clientVersion: versionOptions.clientVersion,
	...logOptions,
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'many Codex sessions as one MCP server on stdio, each with an identity',
	usage: [
		['bridge serve [--identity NAME] [--role NAME] [--model MODEL | --fast] [flags]'],
		['bridge serve --resume [ID]', 'the first call of the identity resumes its last session, or this one'],
	],
	details: `One Codex process runs. The client starts any number of sessions in it with the tool codex, each with its own identity, and sends more
prompts with codex-reply. codex_threads, codex_status and codex_close list sessions and end them. Sessions are kept
in ~/.config/atm/codex-sessions, and can be resumed by their codex_id after a restart.`,
	options,
	examples: [
		`bridge serve --identity arch-ctm --timeout 600

# in Claude Code
claude mcp add codex -- bridge serve`,
	],
	exitCodes:
		'0 the client closed its end, 1 Codex exited or could not be started, 2 invalid arguments or configuration',
	run: ({options}, {stop, version}) => startServe(options, stop, version),
});

async function startServe(flags: Flags, stop: StopSignals, version: string): Promise<number> {
	const {config, warnings} = await loadAtmConfigWithFlags(flags);
	return withObservers(flags, warnings, observers => serve(config, flags, observers, stop, version));
}

async function serve(
	config: ServeConfig,
	flags: Flags,
	{log, trace, createTaps, stderr}: Observers,
	stop: StopSignals,
	version: string,
): Promise<number> {
	const cwd = process.cwd();
	const recentStderr = new RecentStderr();
	const app = await openApp(config, flags, log, cwd);
	const codex = await openCodex(config, flags, log, cwd, collectStderr(stderr, recentStderr));
	app.codexStarted(codex.kind ?? 'none');
	explainWait('Waiting for an MCP client on stdin. To configure one: bridge install CLIENT');
	const client = stdioEndpoint();
	const taps = createTaps(client.name, 'codex');
	const pending = new PendingRequests();
	let hasCodexExited = false;
	let isEnding = false;
	let resolveEnding: () => void = () => {};
	const ending = new Promise<void>(resolve => {
		resolveEnding = resolve;
	});
	const stages = serveStages({
		log,
		trace,
		taps,
		pending,
		version,
		clientVersion: flags.clientVersion,
		logLevel: trace && flags.logLevel === 'debug' ? 'info' : flags.logLevel,
		sessions: app.sessions,
		runner: app.runner,
		calls: app.acceptedCalls,
		auditLog: app.auditLog,
		sessionRouter: app.sessionRouter,
		tools: app.tools,
		rejection: app.currentRejection,
		mail: app.mailScheduler,
		drained: () => ending,
		onExit(error) {
			// Codex exits when its input ends, as intended.
			if (isEnding) return;
			hasCodexExited = true;
			log.error('codex.gone', error.sentence, error.details);
			app.codexExited(error, recentStderr.text);
		},
	});
	connect(client, stages, codex, error => logBug(log, error));
	const recovered = app.mailScheduler.start();
	void serveMetrics(config, app, log);
	logStart(log, codex.kind, config.team);
	const swept = sweepOrphans(log);
	await waitForEnd(client, app, pending, stop);
	isEnding = true;
	resolveEnding();
	await closeAll(codex, client, stop);
	await app.close();
	taps?.closed(hasCodexExited ? 'upstream' : 'client');
	await Promise.all([swept(), recovered]);
	return logStdioFailure(client, log) || hasCodexExited ? 1 : 0;
}

/** Forwards the stderr of Codex, and keeps its end for error messages. */
function collectStderr(stderr: Observers['stderr'], recentStderr: RecentStderr) {
	const forward = prefixedStderr(stderr);
	return (chunk: Buffer): Promise<void> | undefined => {
		recentStderr.add(chunk);
		return forward('codex', chunk);
	};
}

const openCodex = (
	config: ServeConfig,
	flags: Flags,
	log: Log,
	cwd: string,
	onStderr: (chunk: Buffer) => Promise<void> | undefined,
): Promise<CodexBackend> =>
	startCodexBackend({
		command: config.codexBin,
		cwd,
		env: flags.env,
		log,
		logLevel: flags.logLevel,
		onStderr,
		kind: backendKinds[config.transport],
	});

function openApp(config: ServeConfig, flags: Flags, log: Log, cwd: string): Promise<ServeApp> {
	const {team, inboxFormat} = config;
	const script = process.argv[1] ?? 'bridge';
	const configFile = flags.config === undefined ? undefined : resolve(flags.config);
	return ServeApp.open({
		config,
		log,
		cwd,
		timeoutMs: config.requestTimeoutSecs * 1000,
		resume: flags.resume,
		mailServer: owner => mailServerEntry({script, team, inboxFormat, env: process.env, configFile}, owner),
		disabledServers: async folder => {
			const disabled = await findBridgeEntries({script, env: {...process.env, ...flags.env}, cwd: folder});
			const names = Object.keys(disabled);
			if (names.length > 0)
				log.debug(
					'codex.entries.disabled',
					`Codex does not start bridge's own entries: ${names.join(', ')}.`,
				);
			return disabled;
		},
	});
}

/** Serves mail metrics if a port is configured. A port that is in use only causes a warning. */
async function serveMetrics({metricsPort}: ServeConfig, {mailScheduler}: ServeApp, log: Log): Promise<void> {
	if (metricsPort === undefined) return;
	try {
		const {serveMailMetrics} = await import('../../lib/serve/mail/metrics.js');
		const url = await serveMailMetrics(mailScheduler, metricsPort, log);
		log.info('metrics.listening', `Mail metrics are served at ${url}.`, {url});
	} catch (error) {
		log.warn('metrics.failed', error instanceof Error ? error.message : String(error));
	}
}

function logStart(log: Log, kind: CodexBackend['kind'], team: string): void {
	const sentence = kind
		? `bridge serve runs with codex ${kind} for the team ${team}.`
		: 'bridge serve runs without Codex: calls of codex and codex-reply are rejected.';
	log.info('serve.started', sentence, {backend: kind ?? 'none', team});
}

/** Waits for a signal or the end of input, then for all sessions to end. */
async function waitForEnd(
	client: StdioEndpoint,
	app: ServeApp,
	pending: PendingRequests,
	stop: StopSignals,
): Promise<void> {
	const clientClosed = Promise.race([client.inputEnded, client.disconnected]).then(() => true);
	const isEof = await Promise.race([clientClosed, stop.requested.then(() => false)]);
	const signalDeadline = isEof ? stop.requested.then(() => sleep(SIGNAL_GRACE_MS)) : new Promise(() => {});
	const deadline = Promise.race([stop.forced, signalDeadline]);
	await app.endSessions(deadline);
	await Promise.race([
		waitForPending(pending),
		deadline,
		client.disconnected,
		sleep(GRACE_MS, undefined, {ref: false}),
	]);
}

async function closeAll(codex: CodexBackend, client: StdioEndpoint, stop: StopSignals): Promise<void> {
	await Promise.race([client.close(), stop.forced]);
	await Promise.race([codex.close(), stop.forced]);
	codex.kill();
}
