import process from 'node:process';
import {createInterface} from 'node:readline';

/** Prompts for confirmation on a terminal. Closing the input, or Ctrl+C, means no. */
export function confirmed(question: string, output: NodeJS.WriteStream): Promise<boolean> {
	const lines = createInterface({input: process.stdin, output});
	return new Promise(resolve => {
		lines.once('close', () => resolve(false));
		lines.question(question, answer => {
			resolve(/^y(es)?$/i.test(answer.trim()));
			lines.close();
		});
	});
}
