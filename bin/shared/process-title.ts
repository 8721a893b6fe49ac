import process from 'node:process';
import {printable} from '../../lib/util/printable.js';

const MAX_LENGTH = 64;

/**
 * Shows in lists of processes which server or service a bridge belongs to. The name of the server is all that is shown: a
 * command line or a URL may contain secrets.
 */
export function setProcessTitle(program: string, subject: string | undefined): void {
	const title = subject === undefined ? program : `${program}: ${printable(subject)}`;
	process.title = title.slice(0, MAX_LENGTH);
}
