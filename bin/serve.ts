import {resolve} from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {loadAtmConfig} from '../lib/atm/config.js';
import type {AtmConfig} from '../lib/atm/types.js';
import {namedStderr} from '../lib/child-stderr.js';
import {type CodexBackend, codexBackend} from '../lib/codex/backend.js';
import {type Log, logBug} from '../lib/log.js';
import {mailServer} from '../lib/mail/codex-server.js';
import {Desk} from '../lib/sessions/desk.js';
import {connect} from '../lib/stage.js';
import {type OwnStdio, ownStdio} from '../lib/transports/own-stdio.js';
import {sweepOrphans} from '../lib/transports/sweep.js';
import {WaitingRequests} from '../lib/waiting-requests.js';
import {serve as serveStages} from '../pipelines/serve.js';
import {allAnswered} from './all-answered.js';
import type {Flags} from './flags.js';
import {failed, type Observers, observed} from './observers.js';
import type {Stop} from './signals.js';

/** How long a client that closed its end may still be answered what takes no turn. */
const GRACE_MS = 2500;
/** Who closes our input and then sends a signal is about to kill us: so much is left. */
const PATIENCE_MS = 1500;

const kinds = {auto: undefined, mcp: 'mcp-server', 'app-server': 'app-server'} as const;

/** `bridge serve`: many Codex sessions as one MCP server on this process's stdio. */
export async function runServe(flags: Flags, stop: Stop, version: string): Promise<number> {
	const {config: file, timeoutMs, session} = flags;
	const timeoutSecs = timeoutMs === undefined ? undefined : timeoutMs / 1000;
	const atm = {...session, config: file, timeoutSecs};
	const {config, warnings} = await loadAtmConfig({flags: atm, env: process.env, cwd: process.cwd()});
	return observed(flags, warnings, watchers => serve(config, flags, watchers, stop, version));
}

async function serve(
	config: AtmConfig,
	flags: Flags,
	{log, trace, taps: tapsFor, stderr}: Observers,
	stop: Stop,
	version: string,
): Promise<number> {
	const cwd = process.cwd();
	const show = namedStderr(stderr);
	const onStderr = (chunk: Buffer): Promise<void> | undefined => show('codex', chunk);
	const timeoutMs = config.requestTimeoutSecs * 1000;
	const {team, inboxFormat} = config;
	const own = {script: process.argv[1] ?? 'bridge', team, inboxFormat, env: process.env};
	const configFile = flags.config === undefined ? undefined : resolve(flags.config);
	const desk = await Desk.open({
		...{config, log, cwd, timeoutMs, resume: flags.session.resume},
		mailServer: owner => mailServer({...own, configFile}, owner),
	});
	const kind = kinds[config.transport];
	const codex = await codexBackend({command: config.codexBin, cwd, env: flags.env, log, onStderr, kind});
	const backend = codex.kind ?? 'none';
	desk.started(backend);
	const client = ownStdio();
	const taps = tapsFor(client.name, 'codex');
	const waiting = new WaitingRequests();
	let isDead = false;
	let isOver = false;
	let saidAll: () => void = () => {};
	const over = new Promise<void>(resolve => {
		saidAll = resolve;
	});
	const stages = serveStages({
		...{log, trace, taps, waiting, version, clientVersion: flags.clientVersion},
		...{sessions: desk.sessions, runner: desk.runner, calls: desk.calls, journal: desk.journal},
		...{admissions: desk.admissions, tools: desk.tools, refusal: desk.refusal, office: desk.office},
		lastWords: () => over,
		onGone(error) {
			// It ends when its input does, as it is meant to.
			if (isOver) return;
			isDead = true;
			log.error('codex.gone', error.sentence, error.details);
			desk.gone(error);
		},
	});
	connect(client, stages, codex, error => logBug(log, error));
	const recovered = desk.office.start();
	void showFigures(config, desk, log);
	log.info('serve.started', `Codex (${backend}) serves the team ${config.team}.`, {
		backend,
		team: config.team,
	});
	const swept = sweepOrphans(log);
	await ended(client, desk, waiting, stop);
	isOver = true;
	saidAll();
	await shut(codex, client, stop);
	await desk.close();
	taps?.closed(isDead ? 'upstream' : 'client');
	await swept();
	await recovered;
	return failed(client, log) || isDead ? 1 : 0;
}

/** Tells a monitoring system of the mail, where that is wanted. A port that cannot be had keeps nobody from working. */
async function showFigures({metricsPort}: AtmConfig, {office}: Desk, log: Log): Promise<void> {
	if (metricsPort === undefined) return;
	try {
		const {serveMailMetrics} = await import('../lib/mail/metrics.js');
		const url = await serveMailMetrics(office, metricsPort, log);
		log.info('metrics.listening', `Figures of the mail are at ${url}.`, {url});
	} catch (error) {
		log.warn('metrics.failed', error instanceof Error ? error.message : String(error));
	}
}

/** Waits for the client or a signal to end it, and then for all sessions to end. */
async function ended(client: OwnStdio, desk: Desk, waiting: WaitingRequests, stop: Stop): Promise<void> {
	const hasLeft = Promise.race([client.ended, client.gone]).then(() => true);
	const isEof = await Promise.race([hasLeft, stop.asked.then(() => false)]);
	const warned = isEof ? stop.asked.then(() => sleep(PATIENCE_MS)) : new Promise(() => {});
	const hurry = Promise.race([stop.urged, warned]);
	await desk.end(hurry);
	await Promise.race([allAnswered(waiting), hurry, client.gone, sleep(GRACE_MS, undefined, {ref: false})]);
}

async function shut(codex: CodexBackend, client: OwnStdio, stop: Stop): Promise<void> {
	await Promise.race([client.close(), stop.urged]);
	await Promise.race([codex.close(), stop.urged]);
	codex.kill();
}
