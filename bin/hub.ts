import {createHash} from 'node:crypto';
import {writeSync} from 'node:fs';
import {hostname} from 'node:os';
import {cwd} from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {namedStderr} from '../lib/child-stderr.js';
import {hubSnippet} from '../lib/config/hub-snippet.js';
import {type Loaded, loadConfig} from '../lib/config/load.js';
import type {Config} from '../lib/config/schema.js';
import {BridgeError} from '../lib/errors.js';
import {servicesOf} from '../lib/gateway/services.js';
import {Hub} from '../lib/hub/hub.js';
import {logBug} from '../lib/log.js';
import {connect} from '../lib/stage.js';
import {startTelemetry} from '../lib/telemetry.js';
import {divertOutput} from '../lib/transports/divert-output.js';
import {ownStdio} from '../lib/transports/own-stdio.js';
import {sweepOrphans} from '../lib/transports/sweep.js';
import {WaitingRequests} from '../lib/waiting-requests.js';
import {converseThrough} from '../pipelines/gateway.js';
import {hub as hubStages} from '../pipelines/hub.js';
import {allAnswered} from './all-answered.js';
import {followConfig} from './config-changes.js';
import {effective} from './effective.js';
import type {Flags} from './flags.js';
import {failed, type Observers, observed} from './observers.js';
import {createRunner} from './runner.js';
import type {Stop} from './signals.js';

/** How long a client that closed its end may still be answered. With what comes after it, all is gone within 5 s. */
const GRACE_MS = 2500;
const TRACING_MS = 500;

/** `bridge hub`: all configured servers as one MCP server on this process's stdio. */
export async function runHub(flags: Flags, stop: Stop, version: string): Promise<number> {
	const loaded = await loadConfig({named: flags.config});
	const config = effective(loaded.config, flags);
	if (flags.printClient) {
		writeSync(1, hubSnippet(flags.printClient, loaded.file));
		return 0;
	}
	if (config.services.size === 0 && config.packs === undefined) throw nothingToServe(loaded);
	return observed(flags, loaded.warnings, watchers =>
		serve({loaded, config, flags, version}, watchers, stop),
	);
}

type Given = {
	readonly loaded: Loaded;
	readonly config: Config;
	readonly flags: Flags;
	readonly version: string;
};

async function serve(
	{loaded, config, flags, version}: Given,
	{log, trace, taps: tapsFor, stderr}: Observers,
	stop: Stop,
): Promise<number> {
	if (loaded.file !== undefined)
		log.info('config.file', `bridge hub is configured by ${loaded.file}.`, {file: loaded.file});
	const maxBytes = config.limits.messageBytes;
	const onStderr = namedStderr(stderr);
	const client = ownStdio();
	divertOutput(text => stderr.write(text));
	const stopTracing = startTelemetry(log);
	// Who waits for an answer does not wait for this, if it takes long.
	await Promise.race([stopTracing, sleep(TRACING_MS, undefined, {ref: false})]);
	let current = config;
	let services = servicesOf(config, {log, maxBytes, onStderr}, new Map());
	const converse = converseThrough({log, maxBytes, trace, taps: tapsFor});
	const hub = new Hub({config, services, log, converse, createRunner, version, id: hubId(loaded)});
	const taps = tapsFor(client.name, 'hub');
	const waiting = new WaitingRequests();
	const stages = hubStages({log, trace, taps, waiting, maxBytes, clientVersion: flags.clientVersion});
	connect(client, stages, hub.open(), error => logBug(log, error));
	const following = followConfig({
		...{loaded, log, current: () => current},
		meaning: next => effective(next.config, flags),
		async apply(next) {
			const before = services;
			current = next;
			services = servicesOf(next, {log, maxBytes, onStderr}, before);
			await hub.update(next, services);
			for (const [name, service] of before) if (services.get(name) !== service) await service.close();
		},
	});
	const swept = sweepOrphans(log);
	await Promise.race([client.ended, client.gone, stop.asked]);
	const late = sleep(GRACE_MS, undefined, {ref: false});
	await Promise.race([allAnswered(waiting), client.gone, stop.asked, late]);
	following.close();
	const closed = hub.close().then(() => Promise.all([...services.values()].map(service => service.close())));
	await Promise.race([closed, stop.urged]);
	await Promise.race([client.close(), stop.urged]);
	taps?.closed('client');
	await swept();
	await Promise.race([stopTracing.then(stopNow => stopNow()), sleep(TRACING_MS), stop.urged]);
	return failed(client, log) ? 1 : 0;
}

/** The same for all hubs of one file: each that it starts as its own server is known by that. */
const hubId = ({file = cwd()}: Loaded): string =>
	createHash('sha256').update(`${hostname()} ${file}`).digest('hex').slice(0, 16);

const nothingToServe = ({file}: Loaded): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		file === undefined ? 'There is no configuration file.' : `${file} has no servers.`,
		'Name servers in bridge.yaml, and start: bridge hub --config bridge.yaml. bridge hub --help has an example.',
	);
