import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {node24, peerUrl} from '../peers.js';

/** A set of scenarios of the official conformance suite, for servers. */
export interface Suite {
	readonly name: string;
	readonly file: string;
	readonly args: readonly string[];
}

const released = fileURLToPath(peerUrl('@modelcontextprotocol/conformance/dist/index.js'));
const alpha = fileURLToPath(peerUrl('conformance-alpha/dist/index.js'));

/** What clients of the handshake era do, as three sets of scenarios see it. */
export const handshakeSuites: readonly Suite[] = [
	{name: '0.1.16 all', file: released, args: ['--suite', 'all']},
	{name: 'alpha 2025-11-25', file: alpha, args: ['--requirements', '2025-11-25']},
	{name: 'alpha 2025-06-18', file: alpha, args: ['--spec-version', '2025-06-18']},
];

/** What clients of the stateless era do. */
export const modernSuite: Suite = {
	name: 'alpha 2026-07-28',
	file: alpha,
	args: ['--requirements', '2026-07-28'],
};

/** What came of one scenario. A scenario passes if nothing in it failed. */
export interface Outcome {
	readonly passed: number;
	/** The checks that failed, and why. */
	readonly failures: readonly string[];
}

export type Outcomes = ReadonlyMap<string, Outcome>;

interface Check {
	readonly id: string;
	readonly status: string;
	readonly errorMessage?: string;
	readonly details?: unknown;
}

/** The reason in one line; what a schema violation was stands in the details only. */
function describe({id, errorMessage, details}: Check): string {
	const more = id === 'wire-schema-valid' ? ` ${JSON.stringify(details)}` : '';
	return `${id}: ${errorMessage ?? 'failed'}${more}`.replaceAll(/\s+/g, ' ').slice(0, 600);
}

/** Reads what a run has left in its output folder: one folder a scenario, named by kind, scenario and time. */
export async function readOutcomes(folder: string): Promise<Outcomes> {
	const outcomes = new Map<string, Outcome>();
	for (const name of (await readdir(folder).catch(() => [])).sort()) {
		const scenario = name.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '').replace(/^(?:server|client)-/, '');
		const checks = JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')) as Check[];
		outcomes.set(scenario, {
			passed: checks.filter(({status}) => status === 'SUCCESS').length,
			failures: checks.filter(({status}) => status === 'FAILURE').map(describe),
		});
	}

	return outcomes;
}

const outputLimit = 100_000;
// A run takes seconds. The suite itself gives up on a scenario after 30, and an end of the run after that is a fault.
const timeout = 300_000;

/** Runs the program of a suite, which needs a newer Node than the project does, and returns what it said. */
export async function runSuite(
	file: string,
	args: readonly string[],
	env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
	const child = spawn(node24, [file, ...args], {stdio: ['ignore', 'pipe', 'pipe'], env, timeout});
	let said = '';
	const listen = (chunk: unknown): void => {
		said = (said + String(chunk)).slice(-outputLimit);
	};
	child.stdout.on('data', listen);
	child.stderr.on('data', listen);
	// It is 1 if a scenario failed, so it says nothing that the outcomes do not.
	await once(child, 'close');
	return said;
}

/** Runs all scenarios of a suite against a server. `folder` must be new. */
export async function testServer(suite: Suite, url: string, folder: string): Promise<Outcomes> {
	const said = await runSuite(suite.file, ['server', '--url', url, ...suite.args, '-o', folder]);
	const outcomes = await readOutcomes(folder);
	if (outcomes.size === 0) throw new Error(`The suite ${suite.name} ran no scenario: ${said}`);
	return outcomes;
}
