import type {Calls} from './calls.js';
import type {Shown} from './interpreter.js';
import type {ProgramError} from './program-error.js';
import type {ContentPart, RunFacts, RunResult} from './types.js';

const MAX_OUTPUT_WITH_ERROR = 16_384;

/** What a run that came to its end gives back: what it printed, then its value. */
export function succeeded(stdout: string, shown: Shown | undefined, calls: Calls): RunResult {
	const isQuiet = shown === undefined || (shown.data === null && stdout !== '');
	const parts = [stdout.replace(/\n$/, ''), ...(isQuiet ? [] : [shown.text])].filter(text => text !== '');
	const hasNothing = stdout === '' && shown === undefined;
	const text = hasNothing ? 'Done. The program printed nothing and ends without a value.' : parts.join('\n');
	const facts: RunFacts = {
		...(shown && {result: shown.data}),
		...(stdout !== '' && {stdout}),
		...madeBy(calls),
	};
	return {content: [{type: 'text', text}, ...calls.attachments], structuredContent: facts, isError: false};
}

/** What a run that failed gives back: what it printed so far, then what went wrong and where. */
export function failed(stdout: string, error: ProgramError, calls?: Calls): RunResult {
	const {type, message, line} = error;
	const printed =
		stdout.length <= MAX_OUTPUT_WITH_ERROR ? stdout : `${stdout.slice(0, MAX_OUTPUT_WITH_ERROR)}…`;
	const where = line === undefined ? 'Error' : `Error at line ${line}`;
	const text = [printed.replace(/\n$/, ''), `${where}: ${type}${message && `: ${message}`}`]
		.filter(part => part !== '')
		.join('\n');
	const facts: RunFacts = {
		error: {type, message, ...(line !== undefined && {line})},
		...(printed !== '' && {stdout: printed}),
		...(calls && madeBy(calls)),
	};
	const content: ContentPart[] = [{type: 'text', text}];
	return {content, structuredContent: facts, isError: true};
}

function madeBy({made}: Calls): {calls?: readonly string[]} {
	return made.size === 0 ? {} : {calls: [...made]};
}
