import process from 'node:process';
import {isatty} from 'node:tty';

/** Explains on a terminal what a command waits for whose stdin is for an MCP client. */
export function explainWait(what: string): void {
	if (isatty(0) && isatty(2)) process.stderr.write(`bridge: ${what}\n`);
}
