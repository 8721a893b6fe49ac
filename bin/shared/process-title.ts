import process from 'node:process';
import {printable} from '../../lib/util/printable.js';

const MAX_LENGTH = 64;

/**
 * Shows in process lists which server or service a process belongs to. Only the name of the server is shown,
 * since a command line or a URL may contain secrets.
 */
export function setProcessTitle(program: string, subject: string | undefined): void {
	const title = subject === undefined ? program : `${program}: ${printable(subject)}`;
	process.title = title.slice(0, MAX_LENGTH);
}
