import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {BridgeError} from '../../lib/errors.js';
import {junit, type Suite} from '../../lib/replay/junit.js';
import type {Outcome} from '../../lib/replay/outcome.js';
import type {ProgressBar} from '../../lib/replay/progress.js';
import {type Counts, coloured, noCounts, outcomeLines} from '../../lib/replay/report.js';
import type {NewRecording} from '../../lib/replay/update.js';
import {writeAtomically} from '../../lib/store/atomic-file.js';
import {write} from '../common/own-output.js';

/** What became of everything, told as it happens and counted. */
export class Report {
	counts: Counts = noCounts;
	readonly suites: Suite[] = [];
	readonly #bar: ProgressBar;
	readonly #isKept: boolean;
	readonly #hasColour = process.stdout.isTTY === true && !process.env.NO_COLOR;
	readonly #started = performance.now();
	#outcomes: Outcome[] = [];
	#number = 0;

	constructor(bar: ProgressBar, isKept: boolean) {
		this.#bar = bar;
		this.#isKept = isKept;
	}

	get seconds(): number {
		return (performance.now() - this.#started) / 1000;
	}

	begin(name: string): void {
		this.#outcomes = [];
		this.suites.push({name, outcomes: this.#outcomes});
	}

	add(outcome: Outcome): void {
		this.#number++;
		this.counts = {...this.counts, [outcome.status]: this.counts[outcome.status] + 1};
		if (this.#isKept) this.#outcomes.push(outcome);
		const lines = outcomeLines(outcome, this.#number);
		if (lines.length > 0) void this.say(lines);
	}

	say(lines: readonly string[]): Promise<void> {
		this.#bar.clear();
		const shown = this.#hasColour ? lines.map(coloured) : lines;
		return write(process.stdout, `${shown.join('\n')}\n`);
	}
}

export async function writeReport(file: string, suites: readonly Suite[]): Promise<void> {
	await writeAtomically(file, junit(suites)).catch(error => {
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			`The report cannot be written: ${(error as Error).message}.`,
			'Name a file in a folder that exists.',
		);
	});
}

/** Puts the new recording in the place of the old one, if all of it was played. */
export async function finishUpdate(update: NewRecording, report: Report): Promise<number> {
	if (report.counts.missed > 0) {
		await report.say(['The recording stays as it was, since the server ended before all was played.']);
		return 1;
	}
	await update.replace();
	await report.say(['The recording is updated.']);
	return 0;
}
