import process from 'node:process';
import {printable, printableJson} from '../../lib/util/printable.js';

/** Writes a text completely before the process may exit. A closed pipe is not an error. */
export const writeText = (stream: NodeJS.WriteStream, text: string): Promise<void> =>
	new Promise(resolve => {
		const done = () => resolve();
		stream.once('error', done);
		stream.write(text, error => {
			// The error event follows this callback. Without a listener, it would end the process.
			if (!error) stream.off('error', done);
			resolve();
		});
	});

/** Formats a value as JSON. Escapes non-printable characters. */
export const prettyJson = (value: unknown, indent: number | undefined = 2): string =>
	`${printableJson(JSON.stringify(value, undefined, indent))}\n`;

/** Prints a message for the user on stderr. */
export const printNotice = (sentence: string): Promise<void> =>
	writeText(process.stderr, `bridge: ${printable(sentence)}\n`);
