import process from 'node:process';
import {isatty} from 'node:tty';

/** Explains on a terminal why a command that reads MCP from stdin appears to hang. */
export function explainWait(text: string): void {
	if (isatty(0) && isatty(2)) process.stderr.write(`bridge: ${text}\n`);
}
