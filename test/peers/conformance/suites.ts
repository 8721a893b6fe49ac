import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {node24, peerUrl} from '../peers.js';

/** A set of scenarios of the official conformance suite for servers. */
export interface Suite {
	readonly name: string;
	readonly file: string;
	readonly args: readonly string[];
}

const released = fileURLToPath(peerUrl('@modelcontextprotocol/conformance/dist/index.js'));
const alpha = fileURLToPath(peerUrl('conformance-alpha/dist/index.js'));

/** The scenarios of clients of the handshake era, from three releases of the suite. */
export const handshakeSuites: readonly Suite[] = [
	{name: '0.1.16 all', file: released, args: ['--suite', 'all']},
	{name: 'alpha 2025-11-25', file: alpha, args: ['--requirements', '2025-11-25']},
	{name: 'alpha 2025-06-18', file: alpha, args: ['--spec-version', '2025-06-18']},
];

/** The scenarios of clients of the stateless era. */
export const modernSuite: Suite = {
	name: 'alpha 2026-07-28',
	file: alpha,
	args: ['--requirements', '2026-07-28'],
};

/** The result of one scenario. It passes if no check failed. */
export interface Outcome {
	readonly passed: number;
	/** The failed checks, with reasons. */
	readonly failures: readonly string[];
}

export type Outcomes = ReadonlyMap<string, Outcome>;

interface Check {
	readonly id: string;
	readonly status: string;
	readonly errorMessage?: string;
	readonly details?: unknown;
}

/** Returns the reason in one line. The details of a schema violation are only in `details`. */
function describe({id, errorMessage, details}: Check): string {
	const more = id === 'wire-schema-valid' ? ` ${JSON.stringify(details)}` : '';
	return `${id}: ${errorMessage ?? 'failed'}${more}`.replaceAll(/\s+/g, ' ').slice(0, 600);
}

/** Reads the output folder of a run: one folder per scenario, named by kind, scenario and time. */
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
// A run takes seconds. The suite aborts a scenario after 30 s, so a longer run indicates a fault.
const timeout = 300_000;

/** Runs a suite with the newer Node that it requires, and returns its output. */
export async function runSuite(
	file: string,
	args: readonly string[],
	env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
	const child = spawn(node24, [file, ...args], {stdio: ['ignore', 'pipe', 'pipe'], env, timeout});
	let output = '';
	const listen = (chunk: unknown): void => {
		output = (output + String(chunk)).slice(-outputLimit);
	};
	child.stdout.on('data', listen);
	child.stderr.on('data', listen);
	// The exit code is 1 if a scenario failed, which the outcomes already show.
	await once(child, 'close');
	return output;
}

/** Runs all scenarios of a suite against a server. `folder` must be new. */
export async function testServer(suite: Suite, url: string, folder: string): Promise<Outcomes> {
	const output = await runSuite(suite.file, ['server', '--url', url, ...suite.args, '-o', folder]);
	const outcomes = await readOutcomes(folder);
	if (outcomes.size === 0) throw new Error(`The suite ${suite.name} ran no scenario: ${output}`);
	return outcomes;
}
