import {printable} from '../printable.js';
import type {Outcome} from './outcome.js';
import {differenceLines} from './report.js';

/** A connection that was replayed, for a report. */
export type Suite = {readonly name: string; readonly outcomes: readonly Outcome[]};

/** What became of a replay, in the format that continuous integration reads. */
export function junit(suites: readonly Suite[]): string {
	return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="bridge replay">\n${suites.map(suiteText).join('')}</testsuites>\n`;
}

function suiteText({name, outcomes}: Suite): string {
	const failures = outcomes.filter(({status}) => status === 'different' || status === 'failed').length;
	const skipped = outcomes.filter(({status}) => status === 'missed').length;
	const time = outcomes.reduce((sum, {ms}) => sum + ms, 0);
	const cases = outcomes.map((outcome, at) => caseText(name, outcome, at + 1)).join('');
	return `  <testsuite name="${xml(printable(name))}" tests="${outcomes.length}" failures="${failures}" skipped="${skipped}" time="${seconds(time)}">\n${cases}  </testsuite>\n`;
}

function caseText(suite: string, {title, status, differences, failure, ms}: Outcome, number: number): string {
	const head = `    <testcase classname="${xml(printable(suite))}" name="${xml(printable(`${number} ${title}`))}" time="${seconds(ms)}"`;
	if (status === 'same') return `${head}/>\n`;
	if (status === 'missed') return `${head}><skipped message="The server was gone."/></testcase>\n`;
	const message = failure ?? `The answer differs in ${differences.length} places.`;
	const text = differences.flatMap(differenceLines).join('\n');
	return `${head}><failure message="${xml(printable(message))}">${xml(text)}</failure></testcase>\n`;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

const entities: {readonly [char: string]: string} = {
	'<': '&lt;',
	'>': '&gt;',
	'&': '&amp;',
	'"': '&quot;',
	"'": '&apos;',
};

/** A text in XML, without what XML cannot have: control characters, and halves of pairs. */
const xml = (text: string): string =>
	text
		.replace(/[<>&"']/g, char => entities[char] ?? char)
		.replace(/\p{Cs}/gu, '\ufffd')
		// biome-ignore lint/suspicious/noControlCharactersInRegex: those are the ones to be replaced.
		.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
