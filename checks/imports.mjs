// Modules that only certain files may import.
import {filesIn, placeOf, read} from './sources.mjs';

const STARTS_PROGRAMS = ['lib/transports/process/child.ts', 'bin/commands/view/open-page.ts'];
const programs = 'child_process|cross-spawn|execa|cluster|open|opn|node-pty|shelljs';
const unbounded = 'buffer|concatMap|delay|groupBy|mergeMap|observeOn|ReplaySubject|share|shareReplay|zip';
/** Folders whose files are stages. */
const STAGES = /^(?:lib\/operators|lib\/serve\/stages)\//;

const IMPORT =
	/\b(?:import|export)\s+(?<clause>[^;'"]*?)\s*from\s*['"](?<from>[^'"]+)['"]|\b(?:import|require)\s*\(\s*['"](?<called>[^'"]+)['"]/g;

export function checkImports(root) {
	return ['lib', 'pipelines', 'bin']
		.flatMap(folder => filesIn(root, folder))
		.flatMap(file => {
			const text = read(root, file);
			return [...text.matchAll(IMPORT)].flatMap(({index, groups: {clause = '', from, called}}) => {
				const problem = problemOf(file, clause, from ?? called);
				return problem === undefined ? [] : [`${placeOf(file, text, index)}: ${problem}`];
			});
		});
}

function problemOf(file, clause, module) {
	if (new RegExp(`^(?:node:)?(?:${programs})$`).test(module)) {
		if (STARTS_PROGRAMS.includes(file) || /^type\s*\{\s*ChildProcess\s*\}$/.test(clause)) return;
		return `imports ${module}. Only ${STARTS_PROGRAMS.join(' and ')} start programs: what a peer sends never decides what runs.`;
	}
	const operator =
		STAGES.test(file) && module === 'rxjs' && new RegExp(`\\b(?:${unbounded})\\b`).exec(clause)?.[0];
	if (operator)
		return `uses ${operator}, which buffers messages without a limit. Write a stage with a bounded queue.`;
	return;
}
