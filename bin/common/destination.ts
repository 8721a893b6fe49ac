import {checkFormat} from '../../lib/store/file-name.js';
import type {Destination} from '../../lib/store/traffic-log.js';
import {invalid} from './values.js';

export const DEFAULT_FORMAT = 'rawprox_%Y-%m-%d-%H.ndjson';

/** Where the traffic log goes, as `--log` and `--filename-format` have it. */
export function destination(log: string | undefined, format: string | undefined): Destination | undefined {
	if (format !== undefined && !log?.startsWith('@'))
		throw invalid('--filename-format needs a folder to name files in.', 'Add --log @DIR.');
	if (log === undefined) return;
	if (log === '-')
		throw invalid(
			'--log - would write to stdout, which carries MCP here.',
			'Name a file, or a folder as @DIR.',
		);
	if (!log.startsWith('@')) return {file: log};
	checkFormat(format ?? DEFAULT_FORMAT);
	return {folder: log.slice(1) || '.', format: format ?? DEFAULT_FORMAT};
}
