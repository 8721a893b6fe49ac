import {basename} from 'node:path';
import type {LoadedConfig} from '../../lib/config/load-config.js';
import {shellQuote} from '../../lib/util/shell-quote.js';
import {usageError} from './flag-values.js';

/**
 * The file that a client's entry for the hub names. Clients start the hub in any folder, so an entry needs the path, and a
 * named file needs no trust. A file that was found in the working directory would lose the check of its later changes.
 */
export function hubConfigFile({file, trust}: LoadedConfig, command: string): string | undefined {
	if (file === undefined || !trust) return file;
	const name = shellQuote(basename(file));
	throw usageError(
		`${file} was found in the working directory, and an entry for the hub has to name its file. ${NAMED_FILE_WARNING}`,
		`If you want that, write: ${command} --config ${name}`,
	);
}

export const NAMED_FILE_WARNING = 'Later changes of a named file run without a check of trust.';
