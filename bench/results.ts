import {DISTURBED} from './noise.js';
import type {LogCheck} from './traffic-log.js';

export type Figure =
	| 'startMs'
	| 'readyMs'
	| 'p50'
	| 'p99'
	| 'callsPerSecond'
	| 'resultRate'
	| 'echoRate'
	| 'cpuSequential'
	| 'cpuConcurrent'
	| 'cpuResult'
	| 'rss'
	| 'sessionErrors'
	| 'sessionRss'
	| 'soakRatio'
	| 'soakSlope';

/** The direction and the title of each figure. */
export const FIGURES: Record<Figure, {title: string; better: 'lower' | 'higher'}> = {
	startMs: {title: 'start ms', better: 'lower'},
	readyMs: {title: 'ready ms', better: 'lower'},
	p50: {title: 'p50 µs', better: 'lower'},
	p99: {title: 'p99 µs', better: 'lower'},
	callsPerSecond: {title: 'calls/s @64', better: 'higher'},
	resultRate: {title: '1 MB results/s', better: 'higher'},
	echoRate: {title: '1 MB echoes/s', better: 'higher'},
	cpuSequential: {title: 'CPU µs/call', better: 'lower'},
	cpuConcurrent: {title: 'CPU µs/call @64', better: 'lower'},
	cpuResult: {title: 'CPU µs/MB', better: 'lower'},
	rss: {title: 'RSS MB', better: 'lower'},
	sessionErrors: {title: 'errors of many sessions', better: 'lower'},
	sessionRss: {title: 'RSS MB of many sessions', better: 'lower'},
	soakRatio: {title: 'RSS late ÷ midway', better: 'lower'},
	soakSlope: {title: 'RSS kB per 1000 calls', better: 'lower'},
};
export const FIGURE_NAMES = Object.keys(FIGURES) as Figure[];

interface Sample {
	round: number;
	value: number;
	foreign: number;
}

export const median = (values: number[]): number | undefined => {
	const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
	const upper = sorted[Math.floor(sorted.length / 2)];
	const lower = sorted[Math.ceil(sorted.length / 2) - 1];
	return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2;
};

const CALM_ROUNDS_NEEDED = 3;

/** All samples, by target and figure. */
export class Results {
	readonly #samples = new Map<string, Sample[]>();
	/** The reason why a target has no or not all figures. */
	readonly problems = new Map<string, string>();
	readonly logs = new Map<string, LogCheck>();
	/** The processes that a target left after its client disconnected. */
	readonly leftovers = new Map<string, number>();

	add(target: string, round: number, foreign: number, values: Partial<Record<Figure, number>>): void {
		for (const [figure, value] of Object.entries(values)) {
			const key = `${target} ${figure}`;
			this.#samples.set(key, [...(this.#samples.get(key) ?? []), {round, value, foreign}]);
		}
	}

	addLeftovers(target: string, count: number): void {
		this.leftovers.set(target, (this.leftovers.get(target) ?? 0) + count);
	}

	/** One value per round, the median of its turns. Disturbed ones count only if too few are calm. */
	byRound(target: string, figure: Figure): Map<number, number> {
		const all = this.#samples.get(`${target} ${figure}`) ?? [];
		const calm = all.filter(sample => sample.foreign <= DISTURBED);
		const used = new Set(calm.map(sample => sample.round)).size >= CALM_ROUNDS_NEEDED ? calm : all;
		const rounds = new Map<number, number[]>();
		for (const {round, value} of used) {
			rounds.set(round, [...(rounds.get(round) ?? []), value]);
		}
		return new Map([...rounds].map(([round, values]) => [round, median(values) ?? Number.NaN]));
	}

	/** The median over the rounds. */
	middle(target: string, figure: Figure): number | undefined {
		return median([...this.byRound(target, figure).values()]);
	}

	/** The median CPU use of other programs, in cores, during a target's slices. */
	foreign(target: string): number | undefined {
		return median(
			FIGURE_NAMES.flatMap(name => this.#samples.get(`${target} ${name}`) ?? []).map(s => s.foreign),
		);
	}
}
