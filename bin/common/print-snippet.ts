import process from 'node:process';
import type {Snippet} from '../../lib/config/clients.js';
import {write} from './own-output.js';

/** Prints the content of a client's file on stdout, for redirection, and where it belongs on stderr. */
export async function printSnippet({place, text, commands = []}: Snippet): Promise<void> {
	await write(process.stderr, `# ${place}\n`);
	await write(process.stdout, text);
	if (commands.length > 0) await write(process.stderr, `# or, for yourself alone:\n${commands.join('\n')}\n`);
}
