import {quoted} from '../../lib/config/hub-snippet.js';
import type {BridgeError} from '../../lib/errors.js';
import {nearest} from '../../lib/nearest.js';
import {invalid} from '../common/values.js';
import type {Commands} from './command.js';

/** The error of a word that is not a command. Often it is the command of a server, and the `--` before it is missing. */
export function unknownCommand({names}: Commands, name: string, line?: readonly string[]): BridgeError {
	const wrap = line && `To wrap a server, write: bridge ${line.map(quoted).join(' ')}`;
	const remedy = [nearest(name, names), wrap ?? 'See bridge --help.'].join(' ').trim();
	return invalid(`Unknown command "${name}".`, remedy);
}
