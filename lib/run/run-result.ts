import type {RenderedValue} from './interpret-program.js';
import type {ProgramError} from './program-error.js';
import type {RunCalls} from './run-calls.js';
import type {ContentPart, RunResult, RunStructuredContent} from './types.js';

const MAX_OUTPUT_WITH_ERROR = 16_384;

/** What a run that came to its end gives back: what it printed, then its value. */
export function successResult(stdout: string, value: RenderedValue | undefined, calls: RunCalls): RunResult {
	const isQuiet = value === undefined || (value.data === null && stdout !== '');
	const parts = [stdout.replace(/\n$/, ''), ...(isQuiet ? [] : [value.text])].filter(text => text !== '');
	const hasNothing = stdout === '' && value === undefined;
	const text = hasNothing ? 'Done. The program printed nothing and ends without a value.' : parts.join('\n');
	const facts: RunStructuredContent = {
		...(value && {result: value.data}),
		...(stdout !== '' && {stdout}),
		...calledToolsOf(calls),
	};
	return {content: [{type: 'text', text}, ...calls.attachments], structuredContent: facts, isError: false};
}

/** What a run that failed gives back: what it printed so far, then what went wrong and where. */
export function errorResult(stdout: string, error: ProgramError, calls?: RunCalls): RunResult {
	const {type, message, line} = error;
	const printed =
		stdout.length <= MAX_OUTPUT_WITH_ERROR ? stdout : `${stdout.slice(0, MAX_OUTPUT_WITH_ERROR)}…`;
	const where = line === undefined ? 'Error' : `Error at line ${line}`;
	const text = [printed.replace(/\n$/, ''), `${where}: ${type}${message && `: ${message}`}`]
		.filter(part => part !== '')
		.join('\n');
	const facts: RunStructuredContent = {
		error: {type, message, ...(line !== undefined && {line})},
		...(printed !== '' && {stdout: printed}),
		...(calls && calledToolsOf(calls)),
	};
	const content: ContentPart[] = [{type: 'text', text}];
	return {content, structuredContent: facts, isError: true};
}

function calledToolsOf({calledTools}: RunCalls): {calls?: readonly string[]} {
	return calledTools.size === 0 ? {} : {calls: [...calledTools]};
}
