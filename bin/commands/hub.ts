import {createHash} from 'node:crypto';
import {hostname} from 'node:os';
import {cwd} from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {hubSnippet} from '../../lib/admin/install/hub-snippet.js';
import {ownCommand, sharedCommand} from '../../lib/admin/install/own-command.js';
import {type LoadedConfig, loadConfig} from '../../lib/config/load-config.js';
import type {Config} from '../../lib/config/schema.js';
import {BridgeError} from '../../lib/core/errors.js';
import {logBug} from '../../lib/core/log.js';
import {PendingRequests} from '../../lib/core/requests/pending.js';
import {connect} from '../../lib/core/stage.js';
import {Hub} from '../../lib/hub/hub.js';
import {traceLabel} from '../../lib/operators/trace.js';
import {HUB_TRANSPORT} from '../../lib/protocol/connection-log.js';
import {sweepOrphans} from '../../lib/transports/process/sweep-orphans.js';
import {stdioEndpoint} from '../../lib/transports/stdio/stdio.js';
import {createServices} from '../../lib/upstream/services.js';
import {conversationStarter} from '../../lib/upstream/start-conversation.js';
import {gatewayStages} from '../../pipelines/gateway.js';
import {hubStages} from '../../pipelines/hub.js';
import {prefixedStderr} from '../shared/child-stderr.js';
import {type CliContext, defineCommand} from '../shared/cli/command.js';
import type {OptionValues} from '../shared/cli/option.js';
import {serversOptions} from '../shared/cli/options.js';
import {reloadOnChange} from '../shared/config-reload.js';
import {explainWait} from '../shared/explain-wait.js';
import {hubConfigFile} from '../shared/hub-file.js';
import {createLazyRunner} from '../shared/lazy-runner.js';
import {logStdioFailure, type Observers, withObservers} from '../shared/observers.js';
import {printNotice} from '../shared/output.js';
import {printSnippet} from '../shared/print-snippet.js';
import {applyServerFlags} from '../shared/server-flags.js';
import type {StopSignals} from '../shared/stop-signals.js';
import {startTelemetry} from '../shared/telemetry.js';
import {waitForPending} from '../shared/wait-for-pending.js';
import {redirectStdout} from './hub/redirect-stdout.js';

/**
 * The time limit for pending responses after the client closes its end. The process must exit within 5 s in
 * total.
 */
const GRACE_MS = 2500;
const TRACING_TIMEOUT_MS = 500;

type Flags = OptionValues<typeof serversOptions>;

export const command = defineCommand({
	summary: 'all configured servers as one MCP server on stdio',
	usage: [
		['bridge hub [--config FILE] [--log FILE] [--debug]'],
		['bridge hub [--config FILE] --print-client CLIENT', 'prints the configuration of a client'],
	],
	details: `Servers are configured in a file, which is reloaded when it changes. A bridge.yaml found in the working directory must
be trusted first: bridge trust --help. The client sees one tool, run, which takes Python:
  sites = wix.list_sites()
  [s.name for s in sites if s.plan == "free"]

Each server is a pack, and its tools are called as pack.tool(name=value). proxy.search("text") and proxy.help("pack.tool")
find tools. expose: tools shows all tools as server__tool instead, together with resources and prompts; expose: both does both.
A run may take as long as runTimeout allows [90s]. packs: DIR adds each JavaScript module in DIR as a pack.

Traces are exported if OTEL_* variables enable them and @opentelemetry/sdk-node is installed next to bridge.`,
	options: serversOptions,
	examples: [
		`bridge hub --config bridge.yaml

# bridge.yaml
expose: run
servers:
  memory:
    command: npx
    args: ["-y", "@modelcontextprotocol/server-memory"]
  remote:
    url: https://example.com/mcp
    headers: { Authorization: "Bearer \${REMOTE_TOKEN}" }`,
	],
	exitCodes: '0 the client closed its end, 1 stdin or stdout failed, 2 invalid arguments or configuration',
	unexpectedRemedy: () => 'Servers are set in the configuration: bridge hub --config FILE',
	run: ({options}, context) => startHub(options, context),
});

async function startHub(flags: Flags, {stop, script, version}: CliContext): Promise<number> {
	const loaded = await loadConfig({named: flags.config});
	const config = applyServerFlags(loaded.config, flags);
	if (flags.printClient) {
		const file = hubConfigFile(loaded, `bridge hub --print-client ${flags.printClient}`);
		const {command: shared, warning} = sharedCommand(script, version);
		await printSnippet(hubSnippet(flags.printClient, file, {local: ownCommand(script), shared}));
		if (warning !== undefined && flags.printClient !== 'codex') await printNotice(warning);
		return 0;
	}
	if (config.services.size === 0 && config.packs === undefined) throw noServersError(loaded);
	return withObservers(flags, loaded.warnings, observers =>
		serve({loaded, config, flags, version}, observers, stop),
	);
}

type HubStart = {
	readonly loaded: LoadedConfig;
	readonly config: Config;
	readonly flags: Flags;
	readonly version: string;
};

async function serve(
	{loaded, config, flags, version}: HubStart,
	{log, trace, createTaps, stderr}: Observers,
	stop: StopSignals,
): Promise<number> {
	if (loaded.file !== undefined)
		log.info('config.file', `bridge hub is configured by ${loaded.file}.`, {file: loaded.file});
	const maxBytes = config.limits.messageBytes;
	const onStderr = prefixedStderr(stderr);
	explainWait('Waiting for an MCP client on stdin. To configure one: bridge install CLIENT --hub');
	const client = stdioEndpoint();
	redirectStdout(text => stderr.write(text));
	const stopTracing = startTelemetry(log);
	// A slow tracing setup must not delay responses.
	await Promise.race([stopTracing, sleep(TRACING_TIMEOUT_MS, undefined, {ref: false})]);
	let current = config;
	let isEnding = false;
	const options = {log, maxBytes, onStderr, isDraining: () => isEnding};
	let services = createServices(config, options, new Map());
	const conversation = {stages: gatewayStages, log, maxBytes, trace, taps: createTaps};
	const hub = new Hub({
		config,
		services,
		log,
		startConversation: conversationStarter(conversation),
		createRunner: createLazyRunner,
		version,
		id: hubId(loaded),
	});
	const taps = createTaps(client.name, 'hub');
	const pending = new PendingRequests();
	const hubTrace = trace && {...trace, label: traceLabel(HUB_TRANSPORT)};
	const stages = hubStages({
		log,
		trace: hubTrace,
		taps,
		pending,
		maxBytes,
		clientVersion: flags.clientVersion,
	});
	connect(client, stages, hub.openSession(), error => logBug(log, error));
	const configWatch = reloadOnChange({
		loaded,
		log,
		current: () => current,
		toEffective: next => applyServerFlags(next.config, flags),
		async apply(next) {
			const previous = services;
			current = next;
			services = createServices(next, options, previous);
			await hub.update(next, services);
			for (const [name, service] of previous) if (services.get(name) !== service) await service.close();
		},
	});
	const swept = sweepOrphans(log);
	await Promise.race([client.inputEnded, client.disconnected, stop.requested]);
	isEnding = true;
	const graceTimeout = sleep(GRACE_MS, undefined, {ref: false});
	await Promise.race([waitForPending(pending), client.disconnected, stop.requested, graceTimeout]);
	configWatch.close();
	const closed = hub.close().then(() => Promise.all([...services.values()].map(service => service.close())));
	await Promise.race([closed, stop.forced]);
	await Promise.race([client.close(), stop.forced]);
	taps?.closed('client');
	await swept();
	await Promise.race([stopTracing.then(stopNow => stopNow()), sleep(TRACING_TIMEOUT_MS), stop.forced]);
	return logStdioFailure(client, log) ? 1 : 0;
}

/** The same id for all hubs of one file, so that a hub that starts itself as a server is detected. */
const hubId = ({file = cwd()}: LoadedConfig): string =>
	createHash('sha256').update(`${hostname()} ${file}`).digest('hex').slice(0, 16);

const noServersError = ({file}: LoadedConfig): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		file === undefined ? 'No configuration file was found.' : `${file} has no servers.`,
		'Add servers to bridge.yaml and run: bridge hub --config bridge.yaml. See bridge hub --help for an example.',
	);
