import type {RenderedValue} from './interpret-program.js';
import type {ProgramError} from './program-error.js';
import type {RunCalls} from './run-calls.js';
import type {ContentPart, RunResult, RunStructuredContent} from './types.js';

const MAX_OUTPUT_WITH_ERROR = 16_384;

/** The result of a successful run: printed text, then the value. */
export function successResult(stdout: string, value: RenderedValue | undefined, calls: RunCalls): RunResult {
	const isOmitted = value === undefined || (value.data === null && stdout !== '');
	const parts = [stdout.replace(/\n$/, ''), ...(isOmitted ? [] : [value.text])].filter(text => text !== '');
	const isEmpty = stdout === '' && value === undefined;
	const text = isEmpty ? 'Done. The program printed nothing and returned no value.' : parts.join('\n');
	const structuredContent: RunStructuredContent = {
		...(value && {result: value.data}),
		...(stdout !== '' && {stdout}),
		...calledToolsOf(calls),
	};
	return {content: [{type: 'text', text}, ...calls.attachments], structuredContent, isError: false};
}

/** The result of a failed run: printed text, then the error and its line. */
export function errorResult(stdout: string, error: ProgramError, calls?: RunCalls): RunResult {
	const {type, message, line} = error;
	const printed =
		stdout.length <= MAX_OUTPUT_WITH_ERROR ? stdout : `${stdout.slice(0, MAX_OUTPUT_WITH_ERROR)}…`;
	const where = line === undefined ? 'Error' : `Error at line ${line}`;
	const text = [printed.replace(/\n$/, ''), `${where}: ${type}${message && `: ${message}`}`]
		.filter(part => part !== '')
		.join('\n');
	const structuredContent: RunStructuredContent = {
		error: {type, message, ...(line !== undefined && {line})},
		...(printed !== '' && {stdout: printed}),
		...(calls && calledToolsOf(calls)),
	};
	const content: ContentPart[] = [{type: 'text', text}];
	return {content, structuredContent, isError: true};
}

function calledToolsOf({calledTools}: RunCalls): {calls?: readonly string[]} {
	return calledTools.size === 0 ? {} : {calls: [...calledTools]};
}
