import {printable} from '../util/printable.js';
import type {ReplayOutcome} from './outcome.js';
import {formatDifference} from './report.js';

export type JunitSuite = {readonly name: string; readonly outcomes: readonly ReplayOutcome[]};

/** Formats the results of a replay as JUnit XML, which CI systems read. */
export function junitReport(suites: readonly JunitSuite[]): string {
	return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="bridge replay">\n${suites.map(suiteXml).join('')}</testsuites>\n`;
}

function suiteXml({name, outcomes}: JunitSuite): string {
	const failures = outcomes.filter(({status}) => status === 'different' || status === 'failed').length;
	const skipped = outcomes.filter(({status}) => status === 'missed').length;
	const time = outcomes.reduce((sum, {ms}) => sum + ms, 0);
	const cases = outcomes.map((outcome, at) => caseXml(name, outcome, at + 1)).join('');
	return `  <testsuite name="${escapeXml(printable(name))}" tests="${outcomes.length}" failures="${failures}" skipped="${skipped}" time="${formatSeconds(time)}">\n${cases}  </testsuite>\n`;
}

function caseXml(
	suite: string,
	{title, status, differences, failure, ms}: ReplayOutcome,
	number: number,
): string {
	const head = `    <testcase classname="${escapeXml(printable(suite))}" name="${escapeXml(printable(`${number} ${title}`))}" time="${formatSeconds(ms)}"`;
	if (status === 'same') return `${head}/>\n`;
	if (status === 'missed') return `${head}><skipped message="The server had disconnected."/></testcase>\n`;
	const message = failure ?? `The response differs in ${differences.length} places.`;
	const text = differences.flatMap(formatDifference).join('\n');
	return `${head}><failure message="${escapeXml(printable(message))}">${escapeXml(text)}</failure></testcase>\n`;
}

const formatSeconds = (ms: number): string => (ms / 1000).toFixed(3);

const entities: {readonly [char: string]: string} = {
	'<': '&lt;',
	'>': '&gt;',
	'&': '&amp;',
	'"': '&quot;',
	"'": '&apos;',
};

/**
 * Escapes a text for XML. Characters that XML does not allow are replaced: control characters and lone
 * surrogates.
 */
const escapeXml = (text: string): string =>
	text
		.replace(/[<>&"']/g, char => entities[char] ?? char)
		.replace(/\p{Cs}/gu, '\ufffd')
		// biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not allow these characters.
		.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
