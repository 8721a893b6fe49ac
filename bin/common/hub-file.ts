import {basename} from 'node:path';
import {quoted} from '../../lib/config/hub-snippet.js';
import type {Loaded} from '../../lib/config/load.js';
import {invalid} from './values.js';

/**
 * The file that a client's entry for the hub names. Clients start the hub in any folder, so an entry needs the path, and a
 * named file needs no trust. A file that was found in the working directory would lose the check of its later changes.
 */
export function hubFile({file, trust}: Loaded, command: string): string | undefined {
	if (file === undefined || !trust) return file;
	const name = quoted(basename(file));
	throw invalid(
		`${file} was found in the working directory, and an entry for the hub has to name its file. ${UNCHECKED}`,
		`If you want that, write: ${command} --config ${name}`,
	);
}

export const UNCHECKED = 'Later changes of a named file run without a check of trust.';
