import {constants} from 'node:os';
import {setTimeout as sleep} from 'node:timers/promises';
import type {BridgeError} from '../../lib/core/errors.js';
import {type Log, logBug} from '../../lib/core/log.js';
import {connect} from '../../lib/core/stage.js';
import {ToolsCache} from '../../lib/operators/cache-tools/tools-cache.js';
import {child} from '../../lib/transports/process/child.js';
import type {ChildExit} from '../../lib/transports/process/lifetime.js';
import {sweepOrphans} from '../../lib/transports/process/sweep-orphans.js';
import {stdioEndpoint} from '../../lib/transports/stdio/stdio.js';
import {type WrapPipelineOptions, wrapStages} from '../../pipelines/wrap.js';
import {childStderr} from '../shared/child-stderr.js';
import {type CliContext, defineCommand} from '../shared/cli/command.js';
import type {Options, OptionValues} from '../shared/cli/option.js';
import {
	cacheToolsFlag,
	environmentOptions,
	logOptions,
	TIMEOUT_FLAG,
	timeoutFlag,
	versionOptions,
} from '../shared/cli/options.js';
import {explainWait} from '../shared/explain-wait.js';
import {usageError} from '../shared/flag-values.js';
import {checkTrafficLog, createObservers, logStdioFailure} from '../shared/observers.js';
import {serverEnvironment} from '../shared/server-environment.js';
import {serverName} from '../shared/server-name.js';
import {countSentMessages, waitForErrorResponses} from './wrap/start-failure.js';

const TIMEOUT_MS = 60_000;
const SHUTDOWN_MS = 5000;

const options = {
	...logOptions,
	...versionOptions,
	...environmentOptions,
	timeout: timeoutFlag,
	cacheTools: cacheToolsFlag,
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'wraps a stdio MCP server: replaces the command of the server',
	usage: [['bridge [flags] -- COMMAND [ARGS…]']],
	options,
	takesUpstreamCommand: true,
	examples: [
		'bridge --debug -- npx -y @modelcontextprotocol/server-everything',
		'bridge --target-version 2024-11-05 -- npx -y @modelcontextprotocol/server-memory',
	],
	exitCodes: 'the exit code of COMMAND; 1 bridge failed, 2 invalid arguments',
	run: ({upstreamCommand: server, options}, {stop}) => wrapServer(server, options, stop),
});

async function wrapServer(
	server: readonly string[],
	flags: Flags,
	stop: CliContext['stop'],
): Promise<number> {
	if (server.length === 0) throw noCommandError();
	await checkTrafficLog(flags);
	const {log, trace, createTaps, stderr, close} = createObservers(flags);
	const [command = '', ...args] = server;
	const name = serverName(server);
	const upstream = child({name, command, args, ...serverEnvironment(flags), onStderr: childStderr(stderr)});
	explainWait(
		`Waiting for an MCP client on stdin, in front of ${name}. To see what a server offers: bridge versions -- COMMAND`,
	);
	const client = stdioEndpoint();
	const taps = createTaps(client.name, name);
	const {counted, sentMessages} = countSentMessages(client);
	connect(counted, wrapStages({...stageOptions(name, flags, log), trace, taps}), upstream, error =>
		logBug(log, error),
	);
	log.debug('child.started', `${name} was started.`, {server: name, command, args: args.length});
	const swept = sweepOrphans(log);
	let hasExited = false;
	const startFailed = upstream.exited.then(
		() => {
			hasExited = true;
			return new Promise<never>(() => {});
		},
		async error => {
			await waitForErrorResponses(client, stop, sentMessages);
			throw error;
		},
	);
	try {
		const inputEnded = await Promise.race([
			client.inputEnded.then(() => true),
			Promise.race([client.disconnected, stop.requested]).then(() => false),
			startFailed,
		]);
		const by = hasExited ? 'upstream' : 'client';
		// A client that closed its input still gets responses to its earlier requests.
		const delivered = (inputEnded ? upstream.finish(stop.requested) : upstream.close()).then(() =>
			client.close(),
		);
		// After a signal, shutdown takes at most SHUTDOWN_MS. After a second signal, it does not wait.
		const shutdownTimeout = stop.requested.then(() => sleep(SHUTDOWN_MS, undefined, {ref: false}));
		await Promise.race([delivered, shutdownTimeout, stop.forced]);
		upstream.kill();
		const code = exitCode(await upstream.exited);
		taps?.closed(by);
		return logStdioFailure(client, log) ? 1 : code;
	} finally {
		await swept();
		await close();
	}
}

const stageOptions = (name: string, flags: Flags, log: Log): WrapPipelineOptions => ({
	log,
	upstream: name,
	transport: 'stdio',
	timeoutMs: flags.timeout ?? TIMEOUT_MS,
	timeoutSetting: TIMEOUT_FLAG,
	clientVersion: flags.clientVersion,
	targetVersion: flags.targetVersion,
	cacheTools: flags.cacheTools ? new ToolsCache({upstream: name, log}) : undefined,
});

/** The exit code of the child, or 0 if bridge requested its exit. */
function exitCode({code, signal, cause}: ChildExit): number {
	if (cause === 'requested') return 0;
	if (cause === 'half-closed') return 1;
	return code ?? 128 + (signal ? (constants.signals[signal] ?? 0) : 0);
}

const noCommandError = (): BridgeError =>
	usageError('The command after -- is missing.', 'Write: bridge -- npx some-server');
