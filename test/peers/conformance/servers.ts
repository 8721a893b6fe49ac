import {join} from 'node:path';
import {isModern, type Version} from '../eras.js';
import {fixtureCommand, fixtureUrl, type Mode, startFixture} from '../fixtures.js';
import {type Service, serviceUrl, startGateway} from '../gateway.js';
import type {Owner} from '../listening.js';
import {inParallel} from './parallel.js';
import type {Comparison} from './report.js';
import {handshakeSuites, modernSuite, type Outcomes, type Suite, testServer} from './suites.js';

const handshakeVersions: readonly Version[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const env = {FIXTURE_SUITE: '1'};

/** A fixture of one version behind one transport, and a suite that looks at it through the bridge. */
export interface Job {
	readonly version: Version;
	readonly mode: Mode;
	readonly suite: Suite;
}

const nameOf = ({version, mode, suite}: Job): string => `server ${version} over ${mode}, ${suite.name}`;
const serviceOf = ({version, mode}: Job): string => `${mode}-${version}`;
const baselineOf = ({version, suite}: Job): string => `${version} ${suite.name}`;

/** All that is run: every version over every transport in which it exists. */
export function allJobs(): Job[] {
	const modes: readonly Mode[] = ['stdio', 'http', 'sse', 'ws'];
	const handshake = handshakeVersions.flatMap(version =>
		modes.flatMap(mode => handshakeSuites.map(suite => ({version, mode, suite}))),
	);
	const modern = (['stdio', 'http'] as const).flatMap(mode =>
		[modernSuite, ...handshakeSuites].map(suite => ({version: '2026-07-28' as const, mode, suite})),
	);
	return [...handshake, ...modern];
}

/** What is worth a look after every change: the oldest, the newest and the stateless version, with the strictest suite. */
export function quickJobs(): Job[] {
	const suites = ['alpha 2025-11-25', modernSuite.name];
	return allJobs().filter(
		({version, mode, suite}) =>
			suites.includes(suite.name) &&
			(['stdio', 'http'].includes(mode) || version === '2024-11-05') &&
			(isModern(version) || version === '2024-11-05' || version === '2025-11-25'),
	);
}

/** The jobs whose names hold that text. */
export const jobsNamed = (jobs: readonly Job[], part: string): Job[] =>
	jobs.filter(job => nameOf(job).includes(part));

async function serviceFor(owner: Owner, {version, mode}: Job): Promise<Service> {
	if (mode === 'stdio') return {...fixtureCommand({mode, version, env})};
	const {port} = await startFixture(owner, {mode, version, env});
	return {url: fixtureUrl(mode, port), transport: mode};
}

/** Every job's baseline, each measured once: the suites speak HTTP only, so it is the fixture over HTTP. */
async function measureDirectly(
	owner: Owner,
	jobs: readonly Job[],
	folder: string,
): Promise<Map<string, Outcomes>> {
	const baselines = new Map<string, Outcomes>();
	const wanted = new Map(jobs.map(job => [baselineOf(job), job]));
	const ports = new Map<Version, number>();
	for (const {version} of wanted.values()) {
		if (ports.has(version)) continue;
		// The stateless fixture answers both eras here: directly, a suite of the other era would see nothing of it.
		const options = {mode: 'http', version, env, speaksBothEras: true} as const;
		ports.set(version, (await startFixture(owner, options)).port);
	}

	await inParallel([...wanted], async ([name, {version, suite}]) => {
		const url = fixtureUrl('http', ports.get(version) ?? 0);
		baselines.set(name, await testServer(suite, url, join(folder, 'direct', name)));
	});
	return baselines;
}

/** Runs the jobs directly and through one gateway that serves all fixtures. */
export async function compareServers(
	owner: Owner,
	jobs: readonly Job[],
	folder: string,
): Promise<Comparison[]> {
	const baselines = await measureDirectly(owner, jobs, folder);
	const services: Record<string, Service> = {};
	for (const job of jobs) services[serviceOf(job)] ??= await serviceFor(owner, job);
	const gateway = await startGateway(owner, {folder, services});
	const comparisons = await inParallel(jobs, async job => {
		const name = nameOf(job);
		process.stderr.write(`${name}\n`);
		const through = await testServer(
			job.suite,
			serviceUrl(gateway, serviceOf(job)),
			join(folder, 'through', name),
		);
		return {name, direct: baselines.get(baselineOf(job)) ?? new Map(), through};
	});
	await gateway.stop();
	return comparisons;
}
