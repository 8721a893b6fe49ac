import {once} from 'node:events';
import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {startReplica, startReplicas} from '../e2e/replicas/support.js';
import {program, type RunningGateway} from '../helpers/gateway.js';
import {startUpstream, type Upstream} from '../helpers/upstream.js';
import {type Client, type Failure, load, newClients, startBalancer} from './balanced.js';

type Setting = {
	readonly config: {readonly servers: object};
	readonly replicas: RunningGateway[];
	readonly port: number;
	readonly upstream: Upstream;
};

/** Starts three replicas behind HAProxy, with an HTTP upstream, a shared child and a child per client. */
async function setting(t: ExecutionContext, isSticky = false): Promise<Setting> {
	const upstream = await startUpstream(t);
	// Keeps memory low over thousands of calls.
	upstream.mood = () => {
		upstream.met.length = 0;
		return false;
	};
	const servers = {
		http: {url: upstream.url},
		shared: {...program('puppet'), shared: true},
		own: program('puppet'),
	};
	const config = {servers, limits: {sessions: 200}};
	const replicas = await startReplicas(t, 3, config);
	return {config, replicas, port: await startBalancer(t, replicas, isSticky), upstream};
}

const succeeded = (clients: readonly Client[]): number =>
	clients.reduce((sum, one) => sum + one.succeeded, 0);
const ofHttp = (clients: readonly Client[]): Client[] => clients.filter(({service}) => service === 'http');
const others = (clients: readonly Client[]): Client[] => clients.filter(({service}) => service !== 'http');
const failuresOf = (clients: readonly Client[]): Failure[] => clients.flatMap(({failures}) => failures);

/** Whether the balancer routes to a replica. */
const isUsed = async (gateway: RunningGateway): Promise<boolean> =>
	/^bridge_sessions_resumed [1-9]/m.test((await gateway.fetch('/metrics')).text);

test.serial(
	'10,000 calls of 50 clients over three round-robin replicas all get their own responses [M1] [M3]',
	async t => {
		t.timeout(300_000);
		const {replicas, port} = await setting(t);
		const clients = await newClients(t, port, {http: 30, shared: 12, own: 8});
		let left = 10_000;
		await load(clients, () => left-- <= 0);
		t.deepEqual(failuresOf(clients), []);
		t.is(succeeded(clients), 10_000);
		t.true(clients.every(({reinitializations}) => reinitializations === 0));
		// Each replica resumed sessions and forwarded requests.
		for (const gateway of replicas) {
			const {text} = await gateway.fetch('/metrics');
			t.regex(text, /^bridge_sessions_resumed [1-9]/m);
			t.regex(text, /^bridge_requests_forwarded [1-9]/m);
			t.regex(text, /^bridge_requests_forward_failures 0$/m);
		}
	},
);

test.serial(
	'a balancer with sticky sessions forwards no call between replicas, and its restart loses no session [M3]',
	async t => {
		const {replicas, port} = await setting(t, true);
		const clients = await newClients(t, port, {http: 4, shared: 8, own: 4});
		const forwards = async (): Promise<number> => {
			const pages = await Promise.all(replicas.map(gateway => gateway.fetch('/metrics')));
			return pages.reduce(
				(sum, {text}) => sum + Number(/^bridge_requests_forwarded (\d+)$/m.exec(text)?.[1]),
				0,
			);
		};
		let left = 500;
		await load(clients, () => left-- <= 0);
		t.is(await forwards(), 0);
		// The new balancer has no state of these sessions.
		const other = await startBalancer(t, replicas, true);
		left = 500;
		for (const client of clients) client.reconnectTo(other);
		await load(clients, () => left-- <= 0);
		t.true((await forwards()) > 0);
		t.deepEqual(failuresOf(clients), []);
		t.true(clients.every(({reinitializations}) => reinitializations === 0));
	},
);

test.serial('killing a replica under load fails only its pending calls [M3]', async t => {
	t.timeout(300_000);
	const {replicas, port} = await setting(t);
	const start = performance.now();
	const clients = await newClients(t, port, {http: 20, shared: 10, own: 6});
	const startMs = performance.now() - start;
	let isOver = false;
	const loaded = load(clients, () => isOver);
	const reach = async (count: number): Promise<void> => {
		while (succeeded(clients) < count) await sleep(20);
	};
	await reach(500);
	const [killed] = replicas;
	if (!killed) throw new Error('There are three.');
	killed.running.child.kill('SIGKILL');
	await once(killed.running.child, 'exit');
	const killedAt = performance.now();
	// Wait until each client has completed a call after the kill.
	while (clients.some(({succeededAt}) => succeededAt <= killedAt)) await sleep(5);
	const outageMs = performance.now() - killedAt;
	await reach(succeeded(clients) + 1500);
	isOver = true;
	await loaded;
	// Only calls that were pending at the kill may fail, with an error that names the cause.
	for (const {at, reason} of failuresOf(clients)) {
		t.true(at <= killedAt, `${at - killedAt} ms after: ${reason}`);
		t.regex(reason, /^502 |ECONNRESET|socket hang up/);
	}
	t.true(ofHttp(clients).every(({reinitializations}) => reinitializations === 0));
	t.true(others(clients).every(({reinitializations}) => reinitializations <= 1));
	t.true(others(clients).some(({reinitializations}) => reinitializations > 0));
	t.log(`all clients succeeded again after ${Math.round(outageMs)} ms`);
	// On a busy machine the outage is measured against the time that all clients took to initialize.
	t.true(outageMs < 2000 + startMs, `${outageMs} ms, start ${startMs} ms`);
});

test.serial(
	'a rolling restart fails no call, and only sessions of children are re-initialized [M1] [L8]',
	async t => {
		t.timeout(300_000);
		const {config, replicas, port} = await setting(t);
		const clients = await newClients(t, port, {http: 16, shared: 6, own: 4});
		let isOver = false;
		const loaded = load(clients, () => isOver);
		for (const gateway of replicas) {
			t.is(await gateway.stop(), 0);
			const next = await startReplica(t, config, gateway.port);
			while (!(await isUsed(next))) await sleep(50);
		}
		const before = succeeded(clients);
		while (succeeded(clients) < before + 500) await sleep(20);
		isOver = true;
		await loaded;
		t.deepEqual(failuresOf(clients), []);
		t.true(ofHttp(clients).every(({reinitializations}) => reinitializations === 0));
		t.true(others(clients).every(({reinitializations}) => reinitializations > 0));
	},
);
