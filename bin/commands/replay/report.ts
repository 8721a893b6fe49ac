import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {BridgeError} from '../../../lib/core/errors.js';
import {writeAtomically} from '../../../lib/files/atomic-write.js';
import {type JunitSuite, junitReport} from '../../../lib/replay/junit.js';
import type {ReplayOutcome} from '../../../lib/replay/outcome.js';
import type {ReplacementRecording} from '../../../lib/replay/replacement-recording.js';
import {colorize, formatOutcome, type OutcomeCounts, ZERO_COUNTS} from '../../../lib/replay/report.js';
import {writeText} from '../../shared/output.js';
import type {ProgressBar} from './progress-bar.js';

/** Prints and counts the outcomes of a replay. */
export class ReplayReport {
	counts: OutcomeCounts = ZERO_COUNTS;
	readonly suites: JunitSuite[] = [];
	readonly #bar: ProgressBar;
	readonly #keepsOutcomes: boolean;
	readonly #hasColor = process.stdout.isTTY === true && !process.env.NO_COLOR;
	readonly #started = performance.now();
	#outcomes: ReplayOutcome[] = [];
	#number = 0;

	constructor(bar: ProgressBar, keepsOutcomes: boolean) {
		this.#bar = bar;
		this.#keepsOutcomes = keepsOutcomes;
	}

	get seconds(): number {
		return (performance.now() - this.#started) / 1000;
	}

	begin(name: string): void {
		this.#outcomes = [];
		this.suites.push({name, outcomes: this.#outcomes});
	}

	add(outcome: ReplayOutcome): void {
		this.#number++;
		this.counts = {...this.counts, [outcome.status]: this.counts[outcome.status] + 1};
		if (this.#keepsOutcomes) this.#outcomes.push(outcome);
		const lines = formatOutcome(outcome, this.#number);
		if (lines.length > 0) void this.print(lines);
	}

	print(lines: readonly string[]): Promise<void> {
		this.#bar.clear();
		const shown = this.#hasColor ? lines.map(colorize) : lines;
		return writeText(process.stdout, `${shown.join('\n')}\n`);
	}
}

export async function writeReport(file: string, suites: readonly JunitSuite[]): Promise<void> {
	await writeAtomically(file, junitReport(suites)).catch(error => {
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			`The report cannot be written: ${(error as Error).message}.`,
			'Use a path in an existing folder.',
		);
	});
}

/** Replaces the old recording with the new one, if all of it was replayed. */
export async function finishUpdate(update: ReplacementRecording, report: ReplayReport): Promise<number> {
	if (report.counts.missed > 0) {
		await report.print([
			'The recording was not changed, since the server exited before the replay was complete.',
		]);
		return 1;
	}
	await update.replace();
	await report.print(['The recording was updated.']);
	return 0;
}
