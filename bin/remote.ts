import {setTimeout as sleep} from 'node:timers/promises';
import {logBug} from '../lib/log.js';
import {MESSAGE_LIMIT} from '../lib/operators/frame.js';
import {noteTools} from '../lib/operators/note-tools.js';
import type {JsonObject} from '../lib/protocol/json.js';
import {Session} from '../lib/protocol/session.js';
import {ToolParameters} from '../lib/protocol/tool-parameters.js';
import {connect} from '../lib/stage.js';
import {ToolsCache} from '../lib/tools-cache.js';
import {ownStdio} from '../lib/transports/own-stdio.js';
import {remote} from '../lib/transports/remote.js';
import {WaitingRequests} from '../lib/waiting-requests.js';
import {httpHop, wrap} from '../pipelines/wrap.js';
import type {Flags} from './flags.js';
import {checkLog, failed, observers} from './observers.js';
import type {Stop} from './signals.js';

const TIMEOUT_MS = 60_000;
/** How long a client that closed its end may still be answered. */
const GRACE_MS = 4000;
const POLL_MS = 10;

/** `bridge --url URL`: this process's stdio in front of a server elsewhere. */
export async function runRemote(url: URL, flags: Flags, stop: Stop): Promise<number> {
	await checkLog(flags);
	const {log, trace, taps: tapsFor, close} = observers(flags);
	const name = url.host;
	const {clientVersion, targetVersion, headers} = flags;
	const session = new Session({upstream: name, clientVersion, targetVersion});
	const waiting = new WaitingRequests();
	const parameters = new ToolParameters();
	const transport = url.protocol.startsWith('ws') ? 'ws' : 'http';
	const onRenewed = (result: JsonObject): void => session.renewed(result);
	const upstream = remote({
		...{name, url, log, transport, maxBytes: MESSAGE_LIMIT, isGuessed: true},
		headers: () => headers,
		ownId: () => session.ownId(),
		again: (...said) => session.translate(...said),
		onRevived: onRenewed,
		onLoss: () => {},
	});
	const client = ownStdio();
	const taps = tapsFor(client.name, name);
	const stages = [
		...wrap({
			...{log, upstream: name, transport, trace, taps, session, waiting},
			timeoutMs: flags.timeoutMs ?? TIMEOUT_MS,
			first: [noteTools({parameters})],
			cacheTools: flags.cacheTools ? new ToolsCache({server: name, log}) : undefined,
		}),
		...(transport === 'http' ? httpHop({session, upstream: name, log, headers, onRenewed, parameters}) : []),
	];
	const allSaid = new Promise<void>(resolve => {
		const outgoing = {next: upstream.outgoing.next, error: () => resolve(), complete: () => resolve()};
		connect(client, stages, {...upstream, outgoing}, error => logBug(log, error));
	});
	try {
		await Promise.race([client.ended, client.gone, stop.asked]);
		const answered = allSaid.then(() => allAnswered(waiting));
		await Promise.race([answered, client.gone, stop.asked, sleep(GRACE_MS, undefined, {ref: false})]);
		await Promise.race([upstream.close(), stop.urged]);
		await Promise.race([client.close(), stop.urged]);
		taps?.closed('client');
		return failed(client, log) ? 1 : 0;
	} finally {
		await close();
	}
}

async function allAnswered(waiting: WaitingRequests): Promise<void> {
	while (waiting.areAwaited) await sleep(POLL_MS);
}
