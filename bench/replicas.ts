// npm run bench:replicas: what sealed ids cost a call, and what three replicas behind HAProxy do beside one. See README.md.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {Agent, createServer, request as httpRequest} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';

const CALLS = 10_000;
const CLIENTS = 50;
const ROUNDS = 5;
/** Each replica has its code compiled by as many calls before anything is measured. */
const WARM_UPS = 2;
const TICK_MICROS = 10_000;

const bridge = fileURLToPath(new URL('../bin/bridge.js', import.meta.url));
const example = fileURLToPath(new URL('../../deploy/haproxy.cfg', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bridge-bench-replicas-'));
const endings: Array<() => void> = [() => rmSync(folder, {recursive: true})];

const say = (line: string): void => {
	process.stdout.write(`${line}\n`);
};

/** A server that answers every call alike. */
const upstream = createServer((req, res) => {
	let text = '';
	req.on('data', chunk => {
		text += chunk;
	});
	req.on('end', () => {
		const {id, method, params} = JSON.parse(text === '' ? '{}' : text);
		const isBegun = method === 'initialize';
		const result = isBegun
			? {
					protocolVersion: params.protocolVersion,
					capabilities: {tools: {}},
					serverInfo: {name: 'b', version: '1'},
				}
			: {content: [{type: 'text', text: 'x'.repeat(100)}]};
		if (id === undefined) res.writeHead(req.method === 'GET' ? 405 : 202).end();
		else
			res
				.writeHead(200, {'content-type': 'application/json', ...(isBegun ? {'mcp-session-id': 'bench'} : {})})
				.end(JSON.stringify({jsonrpc: '2.0', id, result}));
	});
});
await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
endings.push(
	() => upstream.closeAllConnections(),
	() => upstream.close(),
);

let count = 0;

/** Starts a gateway. */
const start = async (more: object): Promise<{readonly port: number; readonly pid: number}> => {
	const file = join(folder, `${++count}.json`);
	const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`;
	writeFileSync(
		file,
		JSON.stringify({listen: '127.0.0.1:0', servers: {bench: {url, transport: 'http'}}, ...more}),
	);
	const child = spawn(process.execPath, [bridge, 'gateway', '--config', file], {
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	endings.push(() => child.kill('SIGKILL'));
	const [chunk] = await once(child.stdout, 'data');
	return {port: Number(/:(\d+)/.exec(String(chunk))?.[1]), pid: child.pid ?? 0};
};

const common = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};

/** Posts a message, and resolves to the id of the session that came with the answer. */
const post = (port: number, agent: Agent, message: object, session?: string): Promise<string> =>
	new Promise((resolve, reject) => {
		const headers = {...common, ...(session === undefined ? {} : {'mcp-session-id': session})};
		const request = httpRequest({
			agent,
			port,
			host: '127.0.0.1',
			path: '/mcp/bench',
			method: 'POST',
			headers,
		});
		request.once('error', reject).once('response', response => {
			const status = response.statusCode ?? 0;
			response.resume().once('end', () => {
				if (status < 300) resolve(String(response.headers['mcp-session-id']));
				else reject(new Error(`status ${status}`));
			});
		});
		request.end(JSON.stringify({jsonrpc: '2.0', ...message}));
	});

/** Lets clients call. Resolves to the seconds that it took. */
const load = async (port: number): Promise<number> => {
	const params = {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'bench', version: '1'}};
	let left = CALLS;
	const agents = Array.from({length: CLIENTS}, () => new Agent({keepAlive: true, maxSockets: 1}));
	const sessions = await Promise.all(
		agents.map(async agent => {
			const session = await post(port, agent, {id: 0, method: 'initialize', params});
			await post(port, agent, {method: 'notifications/initialized'}, session);
			return session;
		}),
	);
	const begun = performance.now();
	await Promise.all(
		agents.map(async (agent, at) => {
			for (let id = 1; left-- > 0; id++)
				await post(port, agent, {id, method: 'tools/call', params: {name: 'x', arguments: {}}}, sessions[at]);
		}),
	);
	const seconds = (performance.now() - begun) / 1000;
	for (const agent of agents) agent.destroy();
	return seconds;
};

/** The microseconds of processors that a process has used. */
const cpuMicros = (pid: number): number => {
	const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
	const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
	return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
};

const median = (values: readonly number[]): number =>
	values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

const rotated = <T>(list: readonly T[], by: number): T[] => [
	...list.slice(by % list.length),
	...list.slice(0, by % list.length),
];

/** How two things compare that were measured in turns: what else the machine did meanwhile was much the same for both. */
const ratio = (values: readonly number[], others: readonly number[]): number =>
	median(values.map((value, at) => value / (others[at] ?? Number.NaN)));

const balance = async (ports: readonly number[], port: number): Promise<void> => {
	const servers = ports.map((at, n) => `\tserver bridge-${n} 127.0.0.1:${at}`);
	const text = readFileSync(example, 'utf8')
		.replace('bind :7411', `bind 127.0.0.1:${port}`)
		.replace(/^\tserver [\s\S]+$/m, `${servers.join('\n')}\n`);
	const file = join(folder, `haproxy-${port}.cfg`);
	writeFileSync(file, text);
	const env = {...process.env, BRIDGE_TOKEN: 'none'};
	const haproxy = spawn('haproxy', ['-q', '-db', '-f', file], {stdio: 'ignore', env});
	endings.push(() => haproxy.kill('SIGKILL'));
	const isUp = (): Promise<boolean> =>
		fetch(`http://127.0.0.1:${port}/healthz`).then(
			({ok}) => ok,
			() => false,
		);
	while (!(await isUp())) await sleep(50);
};

const secret = 'a secret for a benchmark';
try {
	const plain = await start({});
	const sealed = await start({secret});
	const costs: {plain: number[]; sealed: number[]} = {plain: [], sealed: []};
	for (let turn = 0; turn < WARM_UPS; turn++) {
		await load(plain.port);
		await load(sealed.port);
	}
	for (let round = 0; round < ROUNDS; round++)
		// Neither is always the first.
		for (const [name, {port, pid}] of rotated(Object.entries({plain, sealed}), round)) {
			const before = cpuMicros(pid);
			await load(port);
			costs[name as 'plain' | 'sealed'].push((cpuMicros(pid) - before) / CALLS);
		}
	const [one, other] = [median(costs.plain), median(costs.sealed)];
	say(
		`a call: ${one.toFixed(0)} µs of CPU, with sealed ids ${other.toFixed(0)} µs: ${ratio(costs.sealed, costs.plain).toFixed(3)} ×`,
	);

	const [first, second, third] = await Promise.all([start({secret}), start({secret}), start({secret})]);
	const alone = 20_000 + Math.floor(Math.random() * 10_000);
	await balance([first.port], alone);
	await balance([first.port, second.port, third.port], alone + 1);
	const speeds: {one: number[]; three: number[]} = {one: [], three: []};
	for (let turn = 0; turn < WARM_UPS; turn++) await load(alone);
	for (let turn = 0; turn < WARM_UPS * 3; turn++) await load(alone + 1);
	for (let round = 0; round < ROUNDS; round++) {
		speeds.one.push(CALLS / (await load(alone)));
		speeds.three.push(CALLS / (await load(alone + 1)));
	}
	const [single, triple] = [median(speeds.one), median(speeds.three)];
	say(
		`behind HAProxy: one replica ${single.toFixed(0)} calls/s, three ${triple.toFixed(0)}: ${ratio(speeds.three, speeds.one).toFixed(2)} ×`,
	);
} finally {
	for (const end of endings.reverse()) end();
}
