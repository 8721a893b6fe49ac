import {resolve} from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import type {AtmConfig} from '../../lib/atm/types.js';
import {namedStderr} from '../../lib/child-stderr.js';
import {type CodexBackend, codexBackend} from '../../lib/codex/backend.js';
import {ownEntries} from '../../lib/codex/own-entries.js';
import {RecentStderr} from '../../lib/codex/recent-stderr.js';
import {type Log, logBug} from '../../lib/log.js';
import {mailServer} from '../../lib/mail/codex-server.js';
import {Desk} from '../../lib/sessions/desk.js';
import {connect} from '../../lib/stage.js';
import {type OwnStdio, ownStdio} from '../../lib/transports/own-stdio.js';
import {sweepOrphans} from '../../lib/transports/sweep.js';
import {WaitingRequests} from '../../lib/waiting-requests.js';
import {serve as serveStages} from '../../pipelines/serve.js';
import {defineCommand} from '../cli/command.js';
import type {Options, Values} from '../cli/option.js';
import {environmentOptions, logOptions, serveOptions, timeout, versionOptions} from '../cli/options.js';
import {allAnswered} from '../common/all-answered.js';
import {atmConfig} from '../common/atm-config.js';
import {failed, type Observers, observed} from '../common/observers.js';
import {explainWait} from '../common/on-terminal.js';
import type {Stop} from '../common/signals.js';

/** How long a client that closed its end may still be answered what takes no turn. */
const GRACE_MS = 2500;
/** Who closes our input and then sends a signal is about to kill us: so much is left. */
const PATIENCE_MS = 1500;

const kinds = {auto: undefined, mcp: 'mcp-server', 'app-server': 'app-server'} as const;

const options = {
	...serveOptions,
	timeout: {...timeout, summary: 'time for one turn [300]; 0 for no limit'},
	resume: {
		value: '[ID]',
		isValueOptional: true,
		summary: 'codex_id, thread id or identity; without ID, the last session of the identity',
		read: (name, given) => given.one(name),
	},
	env: {
		...environmentOptions.env,
		summary: 'sets a variable for Codex; --env NAME passes on your own. May be repeated',
	},
	clientVersion: versionOptions.clientVersion,
	...logOptions,
} satisfies Options;

type Flags = Values<typeof options>;

export const command = defineCommand({
	summary: 'many Codex sessions as one MCP server on stdio, each with an identity',
	usage: [
		['bridge serve [--identity NAME] [--role NAME] [--model MODEL | --fast] [flags]'],
		['bridge serve --resume [ID]', 'the first call of the identity resumes its last session, or this one'],
	],
	details: `One Codex runs. The client starts any number of sessions in it with the tool codex, each with its own identity, and sends more
prompts with codex-reply. codex_threads, codex_status and codex_close list sessions and end them. Sessions are kept
in ~/.config/atm/codex-sessions, and can be resumed by their codex_id after a restart.`,
	options,
	examples: [
		`bridge serve --identity arch-ctm --timeout 600

# in Claude Code
claude mcp add codex -- bridge serve`,
	],
	exitCodes:
		'0 the client closed its end, 1 Codex died or could not be started, 2 wrong arguments or configuration',
	run: ({options}, {stop, version}) => startServe(options, stop, version),
});

/** Many Codex sessions as one MCP server on this process's stdio. */
async function startServe(flags: Flags, stop: Stop, version: string): Promise<number> {
	const {config, warnings} = await atmConfig(flags);
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
	const words = new RecentStderr();
	const desk = await openDesk(config, flags, log, cwd);
	const codex = await openCodex(config, flags, log, cwd, collectStderr(stderr, words));
	desk.started(codex.kind ?? 'none');
	explainWait('Waiting for an MCP client on stdin. To configure one: bridge install CLIENT');
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
		log,
		trace,
		taps,
		waiting,
		version,
		clientVersion: flags.clientVersion,
		logLevel: trace && flags.logLevel === 'debug' ? 'info' : flags.logLevel,
		sessions: desk.sessions,
		runner: desk.runner,
		calls: desk.calls,
		journal: desk.journal,
		admissions: desk.admissions,
		tools: desk.tools,
		refusal: desk.refusal,
		office: desk.office,
		lastWords: () => over,
		onGone(error) {
			// It ends when its input does, as it is meant to.
			if (isOver) return;
			isDead = true;
			log.error('codex.gone', error.sentence, error.details);
			desk.gone(error, words.text);
		},
	});
	connect(client, stages, codex, error => logBug(log, error));
	const recovered = desk.office.start();
	void showFigures(config, desk, log);
	logStart(log, codex.kind, config.team);
	const swept = sweepOrphans(log);
	await ended(client, desk, waiting, stop);
	isOver = true;
	saidAll();
	await shut(codex, client, stop);
	await desk.close();
	taps?.closed(isDead ? 'upstream' : 'client');
	await Promise.all([swept(), recovered]);
	return failed(client, log) || isDead ? 1 : 0;
}

/** Shows the stderr of Codex, and keeps its end for error messages. */
function collectStderr(stderr: Observers['stderr'], words: RecentStderr) {
	const show = namedStderr(stderr);
	return (chunk: Buffer): Promise<void> | undefined => {
		words.add(chunk);
		return show('codex', chunk);
	};
}

const openCodex = (
	config: AtmConfig,
	flags: Flags,
	log: Log,
	cwd: string,
	onStderr: (chunk: Buffer) => Promise<void> | undefined,
): Promise<CodexBackend> =>
	codexBackend({
		command: config.codexBin,
		cwd,
		env: flags.env,
		log,
		logLevel: flags.logLevel,
		onStderr,
		kind: kinds[config.transport],
	});

function openDesk(config: AtmConfig, flags: Flags, log: Log, cwd: string): Promise<Desk> {
	const {team, inboxFormat} = config;
	const script = process.argv[1] ?? 'bridge';
	const configFile = flags.config === undefined ? undefined : resolve(flags.config);
	return Desk.open({
		config,
		log,
		cwd,
		timeoutMs: config.requestTimeoutSecs * 1000,
		resume: flags.resume,
		mailServer: owner => mailServer({script, team, inboxFormat, env: process.env, configFile}, owner),
		disabledServers: async folder => {
			const disabled = await ownEntries({script, env: {...process.env, ...flags.env}, cwd: folder});
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

/** Tells a monitoring system of the mail, where that is wanted. A port that cannot be had keeps nobody from working. */
async function showFigures({metricsPort}: AtmConfig, {office}: Desk, log: Log): Promise<void> {
	if (metricsPort === undefined) return;
	try {
		const {serveMailMetrics} = await import('../../lib/mail/metrics.js');
		const url = await serveMailMetrics(office, metricsPort, log);
		log.info('metrics.listening', `Figures of the mail are at ${url}.`, {url});
	} catch (error) {
		log.warn('metrics.failed', error instanceof Error ? error.message : String(error));
	}
}

function logStart(log: Log, kind: CodexBackend['kind'], team: string): void {
	const sentence = kind
		? `bridge serve runs with codex ${kind}, for the team ${team}.`
		: 'bridge serve runs without Codex: calls of codex and codex-reply are rejected.';
	log.info('serve.started', sentence, {backend: kind ?? 'none', team});
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
