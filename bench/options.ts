import {parseArgs} from 'node:util';

export interface Options {
	help: boolean;
	quick: boolean;
	rounds: number;
	only: string[] | undefined;
	json: string | undefined;
	bridge: string[] | undefined;
	limits: Limits;
}

/** How much of each thing one slice does; every one is bounded in calls and in time. */
export interface Limits {
	starts: number;
	/** Turns that each target has in a round: short and often, so that what is compared lies close together. */
	passes: number;
	/** The same for calls that come alone, whose times differ most from turn to turn. */
	latencyPasses: number;
	warmUpCalls: number;
	sequentialCalls: number;
	sequentialMs: number;
	concurrentMs: number;
	bigCalls: number;
	bigMs: number;
	growthCalls: number;
	growthRuns: number;
	retries: number;
	quietBudgetMs: number;
}

export const HELP = `npm run bench -- [options]

Measures bridge beside a direct connection, a bare Node pipe, an SDK proxy and other proxies from npm:
stdio client → proxy → stdio server, alternating, medians over rounds. Takes several minutes; --quick one or two.

  --rounds N          rounds of measurement (5; with --quick 2)
  --only a,b          only these targets (direct is always measured, as every ratio needs it)
  --quick             short slices, for a smoke check: its ratios are rough
  --json FILE         write the JSON to FILE instead of stdout
  --bridge 'COMMAND'  the command to measure as bridge instead of dist/bin/bridge.js
  --help              this text

Progress and tables go to stderr, one JSON object to stdout (npm run -s bench 2>/dev/null | jq .).
Targets: direct, pipe, sdk-proxy, mcpmon, reloaderoo, mcporter, bridge, bridge+versions, bridge+log.
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
	retries: 2,
	quietBudgetMs: 300_000,
};
const QUICK: Limits = {
	starts: 3,
	passes: 3,
	latencyPasses: 6,
	warmUpCalls: 1000,
	sequentialCalls: 300,
	sequentialMs: 1000,
	concurrentMs: 300,
	bigCalls: 10,
	bigMs: 800,
	growthCalls: 20_000,
	growthRuns: 3,
	retries: 1,
	quietBudgetMs: 15_000,
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
			only: {type: 'string'},
			json: {type: 'string'},
			bridge: {type: 'string'},
		},
	});
	const rounds = Number(values.rounds ?? (values.quick ? 2 : 5));
	if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) {
		throw new Error('--rounds takes a whole number from 1 to 100');
	}
	return {
		help: values.help,
		quick: values.quick,
		rounds,
		only: values.only?.split(',').map(name => name.trim()),
		json: values.json,
		bridge: values.bridge === undefined ? undefined : words(values.bridge),
		limits: values.quick ? QUICK : FULL,
	};
};
