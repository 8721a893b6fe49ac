// npm run bench:replicas: the cost of sealed ids per call, and of three replicas behind HAProxy compared
// with one. See README.md.

import {HttpSession} from './http-session.js';
import {cpuMicros} from './process-stats.js';
import {Place, type Running} from './replicas/place.js';
import {median} from './results.js';
import {checkResult, SMALL} from './slices.js';

const CLIENTS = 50;
/** Calls per turn. Turns are short, so that both sides see about the same load of the machine. */
const CALLS = 2000;
const ROUNDS = 40;
/**
 * Process pairs for the cost of sealing. The variation between processes, due to compilation, exceeds that
 * cost.
 */
const PAIRS = 5;
const PAIR_ROUNDS = 10;
/** The calls that warm up each replica. */
const WARM_UP = 20_000;
const START_MS = 30_000;
const GOALS = {sealed: 1.05, three: 0.8};
const SECRET = 'a secret for a benchmark';

const print = (line: string): void => {
	process.stdout.write(`${line}\n`);
};

type Clients = readonly HttpSession[];

/** Opens the sessions of all clients, each on its own connection. */
const openSessions = async ({port}: Running, service: string): Promise<Clients> => {
	const url = new URL(`http://127.0.0.1:${port}/mcp/${service}`);
	const clients = Array.from({length: CLIENTS}, () => new HttpSession(url));
	await Promise.all(clients.map(client => client.initialize('2025-11-25', START_MS)));
	return clients;
};

/** Runs the clients concurrently, each with one call at a time. Resolves to the calls per second. */
const load = async (clients: Clients, calls = CALLS): Promise<number> => {
	let left = calls;
	const start = performance.now();
	await Promise.all(
		clients.map(async client => {
			while (left-- > 0) checkResult(await client.call('echo', SMALL), 100);
		}),
	);
	return (calls * 1000) / (performance.now() - start);
};

/** Two measurements in alternation: both medians, and the median of their ratio. */
type Compared = {readonly one: number; readonly other: number; readonly ratio: number};

type Turns = {readonly ones: number[]; readonly others: number[]};

const takeTurns = async (
	rounds: number,
	one: () => Promise<number>,
	other: () => Promise<number>,
): Promise<Turns> => {
	const [ones, others]: [number[], number[]] = [[], []];
	for (let round = 0; round < rounds; round++) {
		// Alternates which one is first.
		if (round % 2 === 0) ones.push(await one());
		others.push(await other());
		if (round % 2 === 1) ones.push(await one());
	}
	return {ones, others};
};

const compared = ({ones, others}: Turns): Compared => {
	const middle = (values: number[]): number => median(values) ?? Number.NaN;
	const ratio = middle(others.map((value, at) => value / (ones[at] ?? Number.NaN)));
	return {one: middle(ones), other: middle(others), ratio};
};

/** The CPU time of a gateway per call. */
const costOf = (gateway: Running, clients: Clients) => async (): Promise<number> => {
	const before = cpuMicros(gateway.pid);
	await load(clients);
	return (cpuMicros(gateway.pid) - before) / CALLS;
};

const compareSealing = async (place: Place): Promise<Turns> => {
	const [plain, sealed] = [await place.gateway(() => ({})), await place.gateway(() => ({secret: SECRET}))];
	const [before, after] = [await openSessions(plain, 'remote'), await openSessions(sealed, 'remote')];
	for (const clients of [before, after]) await load(clients, WARM_UP);
	return takeTurns(PAIR_ROUNDS, costOf(plain, before), costOf(sealed, after));
};

const compareReplicas = async (place: Place, service: string, isSticky = false): Promise<Compared> => {
	const replicas = [await place.replica(SECRET), await place.replica(SECRET), await place.replica(SECRET)];
	const one = await place.balancer(replicas.slice(0, 1));
	const three = await place.balancer(replicas, isSticky);
	const [before, after] = [await openSessions(one, service), await openSessions(three, service)];
	await load(before, WARM_UP);
	await load(after, WARM_UP * replicas.length);
	const turns = await takeTurns(
		ROUNDS,
		() => load(before),
		() => load(after),
	);
	return compared(turns);
};

const verdict = (isMet: boolean, goal: string): string => `(goal ${goal}: ${isMet ? 'met' : 'missed'})`;

const inPlace = async <T>(work: (place: Place) => Promise<T>): Promise<T> => {
	const place = new Place();
	try {
		return await work(place);
	} finally {
		await place.close();
	}
};

const pairs: Turns[] = [];
while (pairs.length < PAIRS) pairs.push(await inPlace(compareSealing));
const sealing = compared({
	ones: pairs.flatMap(({ones}) => ones),
	others: pairs.flatMap(({others}) => others),
});
print(
	`a call: ${sealing.one.toFixed(0)} µs of CPU, with sealed ids ${sealing.other.toFixed(0)} µs: ${sealing.ratio.toFixed(3)} × ${verdict(sealing.ratio < GOALS.sealed, '< 1.05')}`,
);
const format = ({one, other, ratio}: Compared): string =>
	`one replica ${one.toFixed(0)} calls/s, three ${other.toFixed(0)}: ${ratio.toFixed(2)} ×`;
const remote = await inPlace(place => compareReplicas(place, 'remote'));
print(`an HTTP upstream behind HAProxy: ${format(remote)} ${verdict(remote.ratio >= GOALS.three, '≥ 0.8')}`);
const local = await inPlace(place => compareReplicas(place, 'local'));
print(`a child behind HAProxy, two of three calls forwarded between replicas: ${format(local)}`);
const led = await inPlace(place => compareReplicas(place, 'local', true));
print(`the same with sticky sessions in HAProxy: ${format(led)}`);
process.exit(0);
