import process from 'node:process';
import type {ClientSnippet} from '../../lib/admin/install/gateway-snippet.js';
import {writeText} from './output.js';

/** Prints the content of a client's file on stdout, for redirection, and its path on stderr. */
export async function printSnippet({location, text, commands = []}: ClientSnippet): Promise<void> {
	await writeText(process.stderr, `# ${location}\n`);
	await writeText(process.stdout, text);
	if (commands.length > 0)
		await writeText(process.stderr, `# or, for your user only:\n${commands.join('\n')}\n`);
}
