// npm run bench:mail: the cost of polling the mail of many sessions while none arrives. See README.md.

import {type ChildProcess, spawn} from 'node:child_process';
import {chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import ndjson from 'ndjson';
import {cpuMicros} from './process-stats.js';

const IDENTITIES = 100;
const MESSAGES = 100;
const MEASURED_MS = 20_000;
const SETTLE_MS = 3000;
const GOAL_PERCENT = 1;

const file = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const print = (line: string): void => {
	process.stderr.write(`${line}\n`);
};

/** Creates a team whose members have this much unread mail, and a fake Codex. */
function prepare(folder: string, intervalMs: number): string {
	const inboxes = join(folder, '.claude/teams/bench/inboxes');
	mkdirSync(inboxes, {recursive: true});
	const roster = {
		name: 'bench',
		createdAt: 1,
		leadAgentId: 'team-lead@bench',
		leadSessionId: '',
		members: [],
	};
	writeFileSync(join(folder, '.claude/teams/bench/config.json'), JSON.stringify(roster));
	const messages = Array.from({length: MESSAGES}, (_, at) => ({
		from: 'dev-1',
		text: 'The build is green again; please go on. '.repeat(5),
		read: false,
		timestamp: new Date(at).toISOString(),
		message_id: `id-${at}`,
	}));
	for (let at = 0; at < IDENTITIES; at++)
		writeFileSync(join(inboxes, `agent-${at}.json`), JSON.stringify(messages, undefined, 2));
	const codex = join(folder, 'codex');
	writeFileSync(
		codex,
		`#!${process.execPath}\nimport(${JSON.stringify(file('fixtures/codex/fake-app-server.js'))});\n`,
	);
	chmodSync(codex, 0o755);
	const settings = {codex_bin: codex, max_concurrent_threads: IDENTITIES, auto_mail: false, atm_tools: false};
	const lines = Object.entries({...settings, mail_poll_interval_ms: intervalMs}).map(
		([key, value]) => `${key} = ${JSON.stringify(value)}`,
	);
	const config = join(folder, 'atm.toml');
	writeFileSync(config, ['[core]', 'default_team = "bench"', '[plugins.codex-mcp]', ...lines, ''].join('\n'));
	return config;
}

/** Starts `bridge serve` with a session for each identity. Resolves when each has completed its turn. */
async function start(folder: string, config: string): Promise<ChildProcess> {
	const env = {...process.env, ATM_HOME: folder, CODEX_HOME: folder};
	const args = [file('bin/bridge.js'), 'serve', '--config', config, '--log-level', 'error'];
	const child = spawn(process.execPath, args, {stdio: ['pipe', 'pipe', 'inherit'], env, cwd: folder});
	const send = (message: object): void =>
		void child.stdin.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
	const clientInfo = {name: 'bench', version: '1'};
	send({
		id: 'first',
		method: 'initialize',
		params: {protocolVersion: '2025-11-25', capabilities: {}, clientInfo},
	});
	send({method: 'notifications/initialized'});
	for (let id = 0; id < IDENTITIES; id++)
		send({
			id,
			method: 'tools/call',
			params: {name: 'codex', arguments: {prompt: 'say:1', identity: `agent-${id}`}},
		});
	let responses = 0;
	for await (const message of child.stdout.pipe(ndjson.parse())) {
		const {id, result} = message as {id?: unknown; result?: {isError?: boolean}};
		if (typeof id !== 'number') continue;
		if (result?.isError) throw new Error(JSON.stringify(result));
		responses++;
		if (responses === IDENTITIES) break;
	}
	return child;
}

/** The CPU share of one core while idle. */
async function idlePercent(intervalMs: number): Promise<number> {
	const folder = mkdtempSync(join(tmpdir(), 'bridge-bench-mail-'));
	const child = await start(folder, prepare(folder, intervalMs));
	try {
		await sleep(SETTLE_MS + 2 * Math.min(intervalMs, SETTLE_MS));
		const [before, started] = [cpuMicros(child.pid ?? 0), performance.now()];
		await sleep(MEASURED_MS);
		return (cpuMicros(child.pid ?? 0) - before) / 10 / (performance.now() - started);
	} finally {
		child.kill('SIGKILL');
		rmSync(folder, {recursive: true, force: true, maxRetries: 5});
	}
}

print(
	`${IDENTITIES} identities with ${IDENTITIES * MESSAGES} messages in total, ${MEASURED_MS / 1000} s each.`,
);
const never = await idlePercent(3_600_000);
print(`no polling            ${never.toFixed(3)} % of a core`);
const usual = await idlePercent(5000);
print(`every 5 s             ${usual.toFixed(3)} % of a core; goal: less than ${GOAL_PERCENT} %`);
const often = await idlePercent(100);
print(`every 100 ms          ${often.toFixed(3)} % of a core`);
const polling = (often - never) / 50;
print(`polling every 5 s takes ${polling.toFixed(3)} % of a core`);
process.stdout.write(`${JSON.stringify({never, usual, often, looking: polling, goal: GOAL_PERCENT})}\n`);
process.exit(usual < GOAL_PERCENT ? 0 : 1);
