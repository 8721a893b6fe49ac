import {randomInt} from 'node:crypto';
import {parseArgs} from 'node:util';
import {bridgeProgram} from '../../bench/paths.js';

/** The kinds of hostile clients, with their share of twenty. */
export const HOSTILE_KINDS = {
	flood: 4,
	'never-read': 3,
	reconnect: 3,
	giant: 3,
	ping: 3,
	run: 2,
	template: 2,
} as const;

export type HostileKind = keyof typeof HOSTILE_KINDS;

export type Options = {
	readonly help: boolean;
	readonly minutes: number;
	readonly clients: number;
	readonly hostile: readonly HostileKind[];
	readonly seed: number;
	/** The maximum resident memory of the gateway. */
	readonly rssMiB: number;
	/** A request without a response counts as lost after this time. */
	readonly patienceMs: number;
	/** A JavaScript file that is started as `node FILE gateway --config …`. */
	readonly program: string;
};

/**
 * The sum of what the limits allow: 256 MiB of request bodies, 256 MiB of unread responses, 4 programs of `run` with 128 MiB
 * each, and 512 MiB for the program, its sessions and garbage that is not collected yet.
 */
const RSS_MIB = 256 + 256 + 4 * 128 + 512;

export const HELP = `npm run soak -- [options]

Runs the built gateway with 200 clients, of which 20 are hostile, in front of healthy upstreams and two that exit at
random. A quarter of the time is quiet: the same honest clients without the hostile ones.

  --minutes N     length of the run (10)
  --seed N        repeats the choices of an earlier run, which prints its seed
  --hostile a,b   only these kinds: ${Object.keys(HOSTILE_KINDS).join(', ')}; or none
  --clients N     honest clients (180)
  --rss N         the most resident memory of the gateway, in MiB (${RSS_MIB})
  --patience N    seconds after which a request without a response is lost (120)
  --program FILE  a JavaScript file that runs in place of dist/bin/bridge.js
  --help          this text

Exit code 1: an honest client got a wrong response, none or two, the gateway exceeded --rss or exited, or a process
was left behind. Times are printed and never change the exit code.
`;

const isKind = (name: string): name is HostileKind => Object.hasOwn(HOSTILE_KINDS, name);

function kindsOf(text: string | undefined): HostileKind[] {
	const names = text === undefined ? Object.keys(HOSTILE_KINDS) : text.split(',').map(name => name.trim());
	const wanted = names.filter(name => name !== 'none');
	const unknown = wanted.find(name => !isKind(name));
	if (unknown !== undefined) throw new Error(`--hostile: unknown kind "${unknown}". See --help.`);
	return wanted.filter(isKind);
}

function numberOf(flag: string, text: string | undefined, otherwise: number): number {
	const value = text === undefined ? otherwise : Number(text);
	if (!Number.isFinite(value) || value <= 0) throw new Error(`--${flag} takes a positive number.`);
	return value;
}

export function readOptions(argv: readonly string[]): Options {
	const text = {type: 'string'} as const;
	const {values} = parseArgs({
		args: [...argv],
		options: {
			help: {type: 'boolean', default: false},
			minutes: text,
			seed: text,
			hostile: text,
			clients: text,
			rss: text,
			patience: text,
			program: text,
		},
	});
	return {
		help: values.help,
		minutes: numberOf('minutes', values.minutes, 10),
		clients: numberOf('clients', values.clients, 180),
		hostile: kindsOf(values.hostile),
		seed: numberOf('seed', values.seed, randomInt(1, 2 ** 31)),
		rssMiB: numberOf('rss', values.rss, RSS_MIB),
		patienceMs: numberOf('patience', values.patience, 120) * 1000,
		program: values.program ?? bridgeProgram,
	};
}
