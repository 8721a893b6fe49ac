import {constants} from 'node:os';
import {setTimeout as sleep} from 'node:timers/promises';
import {childStderr} from '../lib/child-stderr.js';
import {logBug} from '../lib/log.js';
import {connect} from '../lib/stage.js';
import {ToolsCache} from '../lib/tools-cache.js';
import {child} from '../lib/transports/child.js';
import type {Exit} from '../lib/transports/lifetime.js';
import {ownStdio} from '../lib/transports/own-stdio.js';
import {sweepOrphans} from '../lib/transports/sweep.js';
import {wrap} from '../pipelines/wrap.js';
import type {Flags} from './flags.js';
import {checkLog, failed, observers} from './observers.js';
import {serverName} from './server-name.js';
import type {Stop} from './signals.js';

const TIMEOUT_MS = 60_000;
const SHUTDOWN_MS = 5000;

/** `bridge -- COMMAND`: this process's stdio in front of the child's. */
export async function runWrap(server: readonly string[], flags: Flags, stop: Stop): Promise<number> {
	await checkLog(flags);
	const {log, trace, taps: tapsFor, stderr, close} = observers(flags);
	const [command = '', ...args] = server;
	const name = serverName(server);
	const upstream = child({name, command, args, env: flags.env, onStderr: childStderr(stderr)});
	const client = ownStdio();
	const taps = tapsFor(client.name, name);
	const timeoutMs = flags.timeoutMs ?? TIMEOUT_MS;
	const {clientVersion, targetVersion} = flags;
	const options = {
		log,
		upstream: name,
		transport: 'stdio',
		timeoutMs,
		trace,
		taps,
		clientVersion,
		targetVersion,
		cacheTools: flags.cacheTools ? new ToolsCache({server: name, log}) : undefined,
	};
	connect(client, wrap(options), upstream, error => logBug(log, error));
	log.debug('child.started', `${name} was started.`, {server: name, command, args: args.length});
	const swept = sweepOrphans(log);
	let isDead = false;
	const couldNotStart = upstream.exited.then(() => {
		isDead = true;
		return new Promise<never>(() => {});
	});
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

/** The child's own, unless it only did as it was told. */
function exitCode({code, signal, cause}: Exit): number {
	if (cause === 'asked') return 0;
	if (cause === 'half-closed') return 1;
	return code ?? 128 + (signal ? (constants.signals[signal] ?? 0) : 0);
}
