import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {bridgeFile, peersFolder} from '../peers.js';
import {inParallel} from './parallel.js';
import type {Comparison} from './report.js';
import {modernSuite, type Outcomes, readOutcomes, runSuite} from './suites.js';

/** Scenarios in which the suite is the server and checks its client, here bridge. */
const scenarios = {
	'2025-11-25': ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'],
	'2026-07-28': [
		'tools_call',
		'request-metadata',
		'http-standard-headers',
		'http-custom-headers',
		'http-invalid-tool-headers',
		'sep-2322-client-request-state',
		'json-schema-ref-no-deref',
	],
} as const;

const driver = fileURLToPath(new URL('conformance/client.mjs', peersFolder));

/** Runs one scenario at a time, since scenarios of one run affect each other. */
async function testClient(
	version: string,
	scenario: string,
	folder: string,
	env: NodeJS.ProcessEnv,
): Promise<Outcomes> {
	const command = `${process.execPath} ${driver}`;
	const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', version];
	await runSuite(modernSuite.file, [...args, '-o', folder], {...process.env, ...env});
	return readOutcomes(folder);
}

/**
 * Runs the client scenarios directly, and through a gateway that the driver starts in front of the suite's
 * server.
 */
export async function compareClients(folder: string, part = ''): Promise<Comparison[]> {
	const jobs = Object.entries(scenarios)
		.flatMap(([version, names]) => names.map(scenario => ({version, scenario})))
		.filter(({version, scenario}) => `client ${version} ${scenario}`.includes(part));
	return inParallel(jobs, async ({version, scenario}) => {
		const name = `client ${version} ${scenario}`;
		process.stderr.write(`${name}\n`);
		const direct = await testClient(version, scenario, join(folder, 'direct', name), {});
		const through = await testClient(version, scenario, join(folder, 'through', name), {
			CONFORMANCE_BRIDGE: bridgeFile,
		});
		return {name, direct, through};
	});
}
