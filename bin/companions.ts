import type {Invocation} from './flags.js';
import {invalid} from './values.js';

/** Where this program is. */
export type Whereabouts = {readonly script: string};

type Run = (given: Invocation, at: Whereabouts) => Promise<number>;

/** Commands that look at sessions and set things up, and then end. Each is loaded when it is wanted. */
export const companions: ReadonlyMap<string, Run> = new Map<string, Run>([
	[
		'threads',
		async given => {
			const {runThreads} = await import('./threads.js');
			return runThreads(checked(given, 1));
		},
	],
	[
		'summary',
		async given => {
			const {runSummary} = await import('./summary.js');
			return runSummary(checked(given, 2));
		},
	],
	[
		'install',
		async (given, at) => {
			const {runInstall} = await import('./install.js');
			return runInstall(checked(given, 3), at);
		},
	],
	[
		'trust',
		async given => {
			const {runTrust} = await import('./trust.js');
			return runTrust(checked(given, 2));
		},
	],
	[
		'doctor',
		async given => {
			const {runDoctor} = await import('./doctor.js');
			return runDoctor(checked(given, 1));
		},
	],
]);

/** Refuses words that nobody asked for. */
function checked(given: Invocation, maxWords: number): Invocation {
	const [command, ...words] = given.words;
	const extra = given.server?.[0] ?? words[maxWords - 1];
	if (given.server || extra !== undefined)
		throw invalid(
			`bridge ${command} has no use for ${extra ?? '--'}.`,
			`bridge ${command} --help says what it takes.`,
		);
	return given;
}
