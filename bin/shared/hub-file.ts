import {basename} from 'node:path';
import type {LoadedConfig} from '../../lib/config/load-config.js';
import {shellQuote} from '../../lib/util/shell-quote.js';
import {usageError} from './flag-values.js';

/**
 * Returns the configuration file for a client's hub entry. Clients start the hub in any folder, so the entry
 * contains the path. A file that is passed by path needs no trust, so a discovered file would lose the check
 * of later changes.
 */
export function hubConfigFile({file, trust}: LoadedConfig, command: string): string | undefined {
	if (file === undefined || !trust) return file;
	const name = shellQuote(basename(file));
	throw usageError(
		`${file} was found in the working directory, and a hub entry must contain the path of its file. ${NAMED_FILE_WARNING}`,
		`To accept this, write: ${command} --config ${name}`,
	);
}

export const NAMED_FILE_WARNING =
	'Later changes to a file that is passed with --config run without a trust check.';
