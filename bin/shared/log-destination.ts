import {checkFileNameFormat} from '../../lib/traffic-log/log-file-name.js';
import type {LogDestination} from '../../lib/traffic-log/traffic-log.js';
import {usageError} from './flag-values.js';

export const DEFAULT_FILENAME_FORMAT = 'rawprox_%Y-%m-%d-%H.ndjson';

/** Parses the destination of the traffic log from `--log` and `--filename-format`. */
export function parseLogDestination(
	log: string | undefined,
	format: string | undefined,
): LogDestination | undefined {
	if (format !== undefined && !log?.startsWith('@'))
		throw usageError('--filename-format needs a log folder.', 'Add --log @DIR.');
	if (log === undefined) return;
	if (log === '-')
		throw usageError(
			'--log - would write to stdout, which carries MCP here.',
			'Use a file, or a folder as @DIR.',
		);
	if (!log.startsWith('@')) return {file: log};
	checkFileNameFormat(format ?? DEFAULT_FILENAME_FORMAT);
	return {folder: log.slice(1) || '.', format: format ?? DEFAULT_FILENAME_FORMAT};
}
