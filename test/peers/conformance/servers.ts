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

/** A fixture of one version on one transport, and the suite that tests it through bridge. */
export interface Job {
	readonly version: Version;
	readonly mode: Mode;
	readonly suite: Suite;
}

const nameOf = ({version, mode, suite}: Job): string => `server ${version} over ${mode}, ${suite.name}`;
const serviceOf = ({version, mode}: Job): string => `${mode}-${version}`;

/** Whether clients of the stateless era connect to a server of the handshake era. */
const isAcrossEras = ({version, suite}: Job): boolean => !isModern(version) && suite === modernSuite;

/** Scenarios that need tools of a stateless server. */
const needsModernServer = /^(?:input-required-result-|tasks-|server-stateless$|http-custom-header-)/;

/** The fixture to compare with. A suite cannot connect directly to a server of the other era. */
const comparable = (job: Job): Version => (isAcrossEras(job) ? '2026-07-28' : job.version);
const baselineOf = (job: Job): string => `${comparable(job)} ${job.suite.name}`;

/** All jobs: each version over each of its transports. */
export function allJobs(): Job[] {
	const modes: readonly Mode[] = ['stdio', 'http', 'sse', 'ws'];
	const handshake = handshakeVersions.flatMap(version =>
		modes.flatMap(mode => handshakeSuites.map(suite => ({version, mode, suite}))),
	);
	const modern = (['stdio', 'http'] as const).flatMap(mode =>
		[modernSuite, ...handshakeSuites].map(suite => ({version: '2026-07-28' as const, mode, suite})),
	);
	const across = (['2024-11-05', '2025-11-25'] as const).flatMap(version =>
		(['stdio', 'http'] as const).map(mode => ({version, mode, suite: modernSuite})),
	);
	return [...handshake, ...modern, ...across];
}

/** The jobs for each change: the oldest, the newest and the stateless version, with the strictest suite. */
export function quickJobs(): Job[] {
	const suites = ['alpha 2025-11-25', modernSuite.name];
	return allJobs().filter(
		({version, mode, suite}) =>
			suites.includes(suite.name) &&
			(['stdio', 'http'].includes(mode) || version === '2024-11-05') &&
			(isModern(version) || version === '2024-11-05' || version === '2025-11-25'),
	);
}

export const jobsNamed = (jobs: readonly Job[], part: string): Job[] =>
	jobs.filter(job => nameOf(job).includes(part));

async function serviceFor(owner: Owner, {version, mode}: Job): Promise<Service> {
	if (mode === 'stdio') return {...fixtureCommand({mode, version, env})};
	const {port} = await startFixture(owner, {mode, version, env});
	return {url: fixtureUrl(mode, port), transport: mode};
}

/**
 * Measures each job's baseline once. The suites support HTTP only, so the baseline is the fixture over
 * HTTP.
 */
async function measureDirectly(
	owner: Owner,
	jobs: readonly Job[],
	folder: string,
): Promise<Map<string, Outcomes>> {
	const baselines = new Map<string, Outcomes>();
	const wanted = new Map(jobs.map(job => [baselineOf(job), job]));
	const ports = new Map<Version, number>();
	for (const version of new Set([...wanted.values()].map(comparable))) {
		// The stateless fixture serves both eras here, since a suite of the other era could not connect
		// directly.
		const options = {mode: 'http', version, env, speaksBothEras: true} as const;
		ports.set(version, (await startFixture(owner, options)).port);
	}

	await inParallel([...wanted], async ([name, job]) => {
		const url = fixtureUrl('http', ports.get(comparable(job)) ?? 0);
		baselines.set(name, await testServer(job.suite, url, join(folder, 'direct', name)));
	});
	return baselines;
}

/** The outcomes that a job must reach. */
function expectedOf(job: Job, baseline: Outcomes = new Map()): Outcomes {
	if (!isAcrossEras(job)) return baseline;
	return new Map([...baseline].filter(([scenario]) => !needsModernServer.test(scenario)));
}

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
		return {name, direct: expectedOf(job, baselines.get(baselineOf(job))), through};
	});
	await gateway.stop();
	return comparisons;
}
