import {parseArgs} from 'node:util';

export interface Options {
	help: boolean;
	quick: boolean;
	rounds: number;
	/** The transports of client and server: names of topologies. */
	topo: string[] | undefined;
	only: string[] | undefined;
	json: string | undefined;
	bridge: string[] | undefined;
	limits: Limits;
}

/** The amount of work of each slice, limited in calls and in time. */
export interface Limits {
	starts: number;
	/** Turns of each target per round: short and frequent, so that compared samples are close in time. */
	passes: number;
	/** The same for single calls, whose times vary most between turns. */
	latencyPasses: number;
	warmUpCalls: number;
	sequentialCalls: number;
	sequentialMs: number;
	concurrentMs: number;
	bigCalls: number;
	bigMs: number;
	growthCalls: number;
	growthRuns: number;
	/** Concurrent sessions, and the calls of each. */
	sessions: number;
	sessionCalls: number;
	/** Sequential calls during which memory is sampled. */
	soakCalls: number;
	retries: number;
	quietBudgetMs: number;
}

export const HELP = `npm run bench -- [options]

Compares bridge with a direct connection, a minimal Node process, an SDK proxy and other proxies from npm, in
alternation, with medians over rounds. Takes several minutes per topology, and one with --quick.

  --topo a,b          only these: stdio (stdio → proxy → stdio), http-http, http-stdio, stdio-http;
                      http selects all with HTTP on one side
  --rounds N          rounds of measurement (5; with --quick 2)
  --only a,b          only these targets (direct is always measured: each ratio needs it)
  --quick             short slices for a smoke test, with rough ratios
  --json FILE         write the JSON to FILE instead of stdout
  --bridge 'COMMAND'  the command to measure as bridge instead of dist/bin/bridge.js
  --help              this text

Progress and tables go to stderr, one JSON object to stdout (npm run -s bench 2>/dev/null | jq .).
README.md lists the targets of each topology.
Exit code 1: bridge could not be measured. A missed goal does not change the exit code.
`;

const FULL: Limits = {
	starts: 7,
	passes: 4,
	latencyPasses: 20,
	warmUpCalls: 3000,
	sequentialCalls: 250,
	sequentialMs: 1500,
	concurrentMs: 400,
	bigCalls: 20,
	bigMs: 1000,
	growthCalls: 40_000,
	growthRuns: 3,
	sessions: 500,
	sessionCalls: 10,
	soakCalls: 10_000,
	retries: 2,
	quietBudgetMs: 300_000,
};
const QUICK: Limits = {
	starts: 2,
	passes: 2,
	latencyPasses: 4,
	warmUpCalls: 1000,
	sequentialCalls: 200,
	sequentialMs: 1000,
	concurrentMs: 250,
	bigCalls: 6,
	bigMs: 500,
	growthCalls: 20_000,
	growthRuns: 3,
	sessions: 500,
	sessionCalls: 4,
	soakCalls: 4000,
	retries: 1,
	quietBudgetMs: 5000,
};

const words = (text: string): string[] =>
	(text.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map(word => word.replace(/^(['"])(.*)\1$/, '$2'));

export const readOptions = (argv: string[]): Options => {
	const {values} = parseArgs({
		args: argv,
		options: {
			help: {type: 'boolean', default: false},
			quick: {type: 'boolean', default: false},
			rounds: {type: 'string'},
			topo: {type: 'string'},
			only: {type: 'string'},
			json: {type: 'string'},
			bridge: {type: 'string'},
		},
	});
	const rounds = Number(values.rounds ?? (values.quick ? 2 : 5));
	if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) {
		throw new Error('--rounds requires an integer from 1 to 100');
	}
	return {
		help: values.help,
		quick: values.quick,
		rounds,
		topo: values.topo?.split(',').map(name => name.trim()),
		only: values.only?.split(',').map(name => name.trim()),
		json: values.json,
		bridge: values.bridge === undefined ? undefined : words(values.bridge),
		limits: values.quick ? QUICK : FULL,
	};
};
