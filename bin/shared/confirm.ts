import process from 'node:process';
import {createInterface} from 'node:readline';

/** The exit code after Ctrl+C: 128 + SIGINT. */
export const INTERRUPTED = 130;

/** Prompts for confirmation on a terminal. Closing the input declines; Ctrl+C is reported separately. */
export function confirmOnTerminal(
	question: string,
	output: NodeJS.WriteStream,
): Promise<boolean | typeof INTERRUPTED> {
	const lines = createInterface({input: process.stdin, output});
	return new Promise(resolve => {
		lines.once('SIGINT', () => {
			resolve(INTERRUPTED);
			lines.close();
		});
		lines.once('close', () => resolve(false));
		lines.question(question, answer => {
			resolve(/^y(es)?$/i.test(answer.trim()));
			lines.close();
		});
	});
}
