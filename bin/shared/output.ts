import process from 'node:process';
import {printable, printableJson} from '../../lib/util/printable.js';

/** Writes a text, all of it before the process may end. A reader that is gone is nobody's mistake. */
export const writeText = (stream: NodeJS.WriteStream, text: string): Promise<void> =>
	new Promise(resolve => {
		const done = () => resolve();
		stream.once('error', done);
		stream.write(text, error => {
			// The event of an error comes after this, and ends the process if there is no listener.
			if (!error) stream.off('error', done);
			resolve();
		});
	});

/** A value as JSON, with characters that are not printable as escapes. */
export const prettyJson = (value: unknown, indent: number | undefined = 2): string =>
	`${printableJson(JSON.stringify(value, undefined, indent))}\n`;

/** Writes a sentence for a person. */
export const printNotice = (sentence: string): Promise<void> =>
	writeText(process.stderr, `bridge: ${printable(sentence)}\n`);
