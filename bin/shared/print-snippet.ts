import process from 'node:process';
import type {ClientSnippet} from '../../lib/admin/install/gateway-snippet.js';
import {writeText} from './output.js';

/** Prints the content of a client's file on stdout, for redirection, and where it belongs on stderr. */
export async function printSnippet({location: place, text, commands = []}: ClientSnippet): Promise<void> {
	await writeText(process.stderr, `# ${place}\n`);
	await writeText(process.stdout, text);
	if (commands.length > 0)
		await writeText(process.stderr, `# or, for yourself alone:\n${commands.join('\n')}\n`);
}
