import {stripVTControlCharacters} from 'node:util';

/** A line of ava's report for each test, whichever symbols the terminal has. */
const kinds = [
	['passed', /^\s*[✔√] (?!\[)/],
	['failed', /^\s*[✘×] \[(?:fail|unexpected pass)\]/],
	['skipped', /^\s*- \[(?:skip|todo)\]/],
] as const;

/** Lines about a file that failed outside of its tests. There may be several of one file. */
const brokenFiles = [
	/^\s*[✘×] (\S+) exited /,
	/^\s*[✘×] .*(?:remaining in|No tests found in|when running) (\S+?),?(?: |$)/,
	/^\s*(?:Uncaught exception|Unhandled rejection) in (\S+)/,
];

/** Counts the tests in ava's report, since its own summary does not count passed tests when some fail. */
export class TestCounter {
	passed = 0;
	skipped = 0;
	failed = 0;
	readonly #broken = new Set<string>();

	add(styledLine: string): void {
		const line = stripVTControlCharacters(styledLine);
		for (const [kind, pattern] of kinds) if (pattern.test(line)) this[kind] += 1;
		for (const pattern of brokenFiles) {
			const file = pattern.exec(line)?.[1];
			if (file !== undefined) this.#broken.add(file);
		}
	}

	/** The last line of a run, and its exit code. Skipped tests fail the run. */
	end(exitCode: number): {readonly summary: string; readonly exitCode: number} {
		const failed = Math.max(this.failed + this.#broken.size, exitCode === 0 ? 0 : 1);
		const summary = `${this.passed} passed, ${failed} failed, ${this.skipped} skipped`;
		return {summary, exitCode: failed + this.skipped > 0 ? exitCode || 1 : 0};
	}
}
