import {constants} from 'node:os';
import {setTimeout as sleep} from 'node:timers/promises';
import {childStderr} from '../../lib/child-stderr.js';
import type {BridgeError} from '../../lib/errors.js';
import {type Log, logBug} from '../../lib/log.js';
import {connect} from '../../lib/stage.js';
import {ToolsCache} from '../../lib/tools-cache.js';
import {child} from '../../lib/transports/child.js';
import type {Exit} from '../../lib/transports/lifetime.js';
import {ownStdio} from '../../lib/transports/own-stdio.js';
import {sweepOrphans} from '../../lib/transports/sweep.js';
import {type WrapOptions, wrap} from '../../pipelines/wrap.js';
import {type Context, defineCommand} from '../cli/command.js';
import type {Options, Values} from '../cli/option.js';
import {
	cacheTools,
	environmentOptions,
	logOptions,
	TIMEOUT_FLAG,
	timeout,
	versionOptions,
} from '../cli/options.js';
import {checkLog, failed, observers} from '../common/observers.js';
import {explainWait} from '../common/on-terminal.js';
import {serverEnvironment} from '../common/server-environment.js';
import {serverName} from '../common/server-name.js';
import {answerAll, countMessages} from '../common/unstartable.js';
import {invalid} from '../common/values.js';

const TIMEOUT_MS = 60_000;
const SHUTDOWN_MS = 5000;

const options = {
	...logOptions,
	...versionOptions,
	...environmentOptions,
	timeout,
	cacheTools,
} satisfies Options;

type Flags = Values<typeof options>;

export const command = defineCommand({
	summary: 'wraps a stdio MCP server: put this where the command was',
	usage: [['bridge [flags] -- COMMAND [ARGS…]']],
	options,
	takesServer: true,
	examples: [
		'bridge --debug -- npx -y @modelcontextprotocol/server-everything',
		'bridge --target-version 2024-11-05 -- npx -y @modelcontextprotocol/server-memory',
	],
	exitCodes: 'the exit code of COMMAND; 1 bridge failed, 2 wrong arguments',
	run: ({server, options}, {stop}) => wrapServer(server, options, stop),
});

/** This process's stdio in front of the child's. */
async function wrapServer(server: readonly string[], flags: Flags, stop: Context['stop']): Promise<number> {
	if (server.length === 0) throw nothingToRun();
	await checkLog(flags);
	const {log, trace, taps: tapsFor, stderr, close} = observers(flags);
	const [command = '', ...args] = server;
	const name = serverName(server);
	const upstream = child({name, command, args, ...serverEnvironment(flags), onStderr: childStderr(stderr)});
	explainWait(
		`Waiting for an MCP client on stdin, in front of ${name}. To see what a server offers: bridge versions -- COMMAND`,
	);
	const client = ownStdio();
	const taps = tapsFor(client.name, name);
	const {counted, messages} = countMessages(client);
	connect(counted, wrap({...stageOptions(name, flags, log), trace, taps}), upstream, error =>
		logBug(log, error),
	);
	log.debug('child.started', `${name} was started.`, {server: name, command, args: args.length});
	const swept = sweepOrphans(log);
	let isDead = false;
	const couldNotStart = upstream.exited.then(
		() => {
			isDead = true;
			return new Promise<never>(() => {});
		},
		async error => {
			await answerAll(client, stop, messages);
			throw error;
		},
	);
	try {
		const hasEnded = await Promise.race([
			client.ended.then(() => true),
			Promise.race([client.gone, stop.asked]).then(() => false),
			couldNotStart,
		]);
		const by = isDead ? 'upstream' : 'client';
		// A client that closed its end is still listened to, as to what it said before.
		const delivered = (hasEnded ? upstream.finish(stop.asked) : upstream.close()).then(() => client.close());
		// After a signal nobody is waited for longer than a child may take; after a second one, nobody at all.
		const enough = stop.asked.then(() => sleep(SHUTDOWN_MS, undefined, {ref: false}));
		await Promise.race([delivered, enough, stop.urged]);
		upstream.kill();
		const code = exitCode(await upstream.exited);
		taps?.closed(by);
		return failed(client, log) ? 1 : code;
	} finally {
		await swept();
		await close();
	}
}

const stageOptions = (name: string, flags: Flags, log: Log): WrapOptions => ({
	log,
	upstream: name,
	transport: 'stdio',
	timeoutMs: flags.timeout ?? TIMEOUT_MS,
	timeoutSetting: TIMEOUT_FLAG,
	clientVersion: flags.clientVersion,
	targetVersion: flags.targetVersion,
	cacheTools: flags.cacheTools ? new ToolsCache({server: name, log}) : undefined,
});

/** The child's own, unless it only did as it was told. */
function exitCode({code, signal, cause}: Exit): number {
	if (cause === 'asked') return 0;
	if (cause === 'half-closed') return 1;
	return code ?? 128 + (signal ? (constants.signals[signal] ?? 0) : 0);
}

const nothingToRun = (): BridgeError =>
	invalid('Nothing follows the --.', 'Name the server to run: bridge -- npx some-server');
