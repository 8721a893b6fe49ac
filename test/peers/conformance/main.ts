// npm run conformance [-- --quick] [-- --only TEXT]
//   Runs the official conformance suites directly against the fixture servers and through `bridge gateway`.
//   Fails if a scenario that passes directly fails through bridge.
//   --quick       the strictest suite on the oldest, the newest and the stateless version
//   --only TEXT   only runs whose name contains the text, such as "2024-11-05 over ws" or "client"
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {compareClients} from './clients.js';
import {type Comparison, lossesOf, report} from './report.js';
import {allJobs, compareServers, jobsNamed, quickJobs} from './servers.js';

const {values} = parseArgs({options: {quick: {type: 'boolean'}, only: {type: 'string'}}});

async function compareAll(folder: string): Promise<Comparison[]> {
	const jobs = jobsNamed(values.quick ? quickJobs() : allJobs(), values.only ?? '');
	const endings: Array<() => unknown> = [];
	try {
		const owner = {teardown: (end: () => unknown) => endings.push(end)};
		const servers = jobs.length > 0 ? await compareServers(owner, jobs, folder) : [];
		return [...servers, ...(await compareClients(folder, values.only))];
	} finally {
		for (const end of endings) await end();
	}
}

const started = performance.now();
const folder = await mkdtemp(join(tmpdir(), 'bridge-conformance-'));
const comparisons = await compareAll(folder);
const losses = comparisons.flatMap(lossesOf).length;
const seconds = Math.round((performance.now() - started) / 1000);
process.stdout.write(
	`${report(comparisons)}\n${comparisons.length} runs in ${seconds} s, ${losses} scenarios lost\n`,
);
if (losses === 0) await rm(folder, {recursive: true});
else process.stdout.write(`The output of the suites is in ${folder}\n`);
process.exitCode = losses === 0 && comparisons.length > 0 ? 0 : 1;
