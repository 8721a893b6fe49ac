import {isSecretMemberName, REDACTED, redactMessage} from '../core/redact.js';
import {lineDiff} from '../util/line-diff.js';
import {printable, shortened} from '../util/printable.js';
import type {ValueDifference} from './compare.js';
import {formatPointer, type ValuePath} from './json-pointer.js';
import type {ReplayOutcome} from './outcome.js';

/** Limits of the differences that are shown per response, and of the lines per difference. */
const MAX_SHOWN = 20;
const MAX_LINES = 12;

const [RED, GREEN, DIM, RESET] = ['\u001b[31m', '\u001b[32m', '\u001b[2m', '\u001b[0m'];

/** Formats a result as lines for people. Results that are the same have none. */
export function formatOutcome(
	{title, status, differences, failure}: ReplayOutcome,
	number: number,
): string[] {
	if (status === 'same' || status === 'missed') return [];
	const shown = differences.slice(0, MAX_SHOWN).flatMap(formatDifference);
	const left = differences.length - MAX_SHOWN;
	return [
		`✗ ${number} ${printable(shortened(title))}`,
		...(failure === undefined ? [] : [`    ${printable(failure)}`]),
		...shown,
		...(left > 0 ? [`    … and ${left} more differences`] : []),
		'',
	];
}

/**
 * Formats a difference: its path, the recorded value and the live value. Secrets of a live server are
 * redacted, too.
 */
export function formatDifference({
	path,
	recorded: recordedValue,
	live: liveValue,
}: ValueDifference): string[] {
	const where = printable(formatPointer(path)) || '/';
	const isSecret = isSecretMemberName(segmentName(path.at(-1)));
	const [recorded, live] = [recordedValue, liveValue].map(value =>
		isSecret && value !== undefined ? REDACTED : value,
	);
	if (recorded === undefined) return [`    ${where}  is new`, `    + ${shortText(live)}`];
	if (live === undefined) return [`    ${where}  is missing`, `    - ${shortText(recorded)}`];
	if (typeof recorded === 'string' && typeof live === 'string' && recorded.includes('\n'))
		return [`    ${where}`, ...textLines(recorded, live)];
	const [before, after] = excerptsAroundDifference(valueText(recorded), valueText(live));
	return [`    ${where}`, `    - ${before}`, `    + ${after}`];
}

const segmentName = (segment: ValuePath[number] = ''): string =>
	typeof segment === 'string' ? segment : segment[0];

function textLines(recorded: string, live: string): string[] {
	const lines = lineDiff(recorded, live).map(line => `    ${shortened(printable(line))}`);
	const left = lines.length - MAX_LINES;
	return left > 0 ? [...lines.slice(0, MAX_LINES), `    … and ${left} more lines`] : lines;
}

const MAX_VALUE_LENGTH = 200;
/** Limit of the part of a text that is searched for a difference. */
const MAX_SCANNED_LENGTH = 1_000_000;

/** Returns a value as JSON without secrets, possibly truncated. */
const valueText = (value: unknown): string => {
	const json = Buffer.from(String(JSON.stringify(value)?.slice(0, MAX_SCANNED_LENGTH)));
	return printable(redactMessage(json).toString());
};

const shortText = (value: unknown): string => {
	const text = valueText(value);
	return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
};

/** Returns excerpts of two texts, from shortly before their first difference. */
function excerptsAroundDifference(one: string, other: string): readonly [string, string] {
	let at = 0;
	while (at < one.length && one[at] === other[at]) at++;
	const from = at > MAX_VALUE_LENGTH / 2 ? at - MAX_VALUE_LENGTH / 4 : 0;
	const part = (text: string): string =>
		`${from > 0 ? '…' : ''}${text.slice(from, from + MAX_VALUE_LENGTH)}${text.length > from + MAX_VALUE_LENGTH ? '…' : ''}`;
	return [part(one), part(other)];
}

export function colorize(line: string): string {
	if (line.startsWith('✗') || /^ {4}- /.test(line)) return `${RED}${line}${RESET}`;
	if (/^ {4}\+ /.test(line) || line.startsWith('✓')) return `${GREEN}${line}${RESET}`;
	return /^ {4}…/.test(line) ? `${DIM}${line}${RESET}` : line;
}

export type OutcomeCounts = {readonly [status in ReplayOutcome['status']]: number};

export const ZERO_COUNTS: OutcomeCounts = {same: 0, different: 0, failed: 0, missed: 0};

export function formatReportSummary(counts: OutcomeCounts, seconds: number): string {
	const {same, different, failed, missed} = counts;
	const all = same + different + failed + missed;
	const problems = [
		[different, 'different'],
		[failed, 'failed'],
		[missed, 'not tried'],
	].flatMap(([count, what]) => (Number(count) > 0 ? [`${count} ${what}`] : []));
	const mark = problems.length === 0 ? '✓' : '✗';
	return `${mark} ${all} compared: ${[`${same} same`, ...problems].join(', ')} (${seconds.toFixed(1)} s)`;
}

export const isAllSame = ({different, failed, missed}: OutcomeCounts): boolean =>
	different + failed + missed === 0;
