import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import type {Transform} from 'node:stream';
import ndjson from 'ndjson';
import split2 from 'split2';

/** Both parsers emit the values of a text before `end` returns. */
function valuesOf<T>(parser: Transform, text: string): T[] {
	const values: T[] = [];
	parser
		.on('data', value => values.push(value))
		.on('error', () => {})
		.end(text);
	if (parser.errored) throw parser.errored;
	return values;
}

/** Parses a text of NDJSON. Throws if a line is not JSON, or the last line is incomplete. */
export function parseNdjson<T>(text: string): T[] {
	if (text !== '' && !text.endsWith('\n'))
		throw new Error(`The last line is incomplete: ${text.slice(-200)}`);
	return valuesOf(split2(JSON.parse), text);
}

export const readNdjson = <T>(file: string): T[] => parseNdjson(readFileSync(file, 'utf8'));

/** Parses the lines of a text that are JSON, such as log entries on stderr. Drops the others. */
export const jsonLines = <T>(text: string): T[] => valuesOf(ndjson.parse({strict: false}), text);

const parser = JSON.stringify(createRequire(import.meta.url).resolve('ndjson'));

/** Code for `node -e`: a stream of the messages on stdin. */
export const stdinMessages = `process.stdin.pipe(require(${parser}).parse())`;
