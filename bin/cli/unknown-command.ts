import {shellQuote} from '../../lib/config/hub-snippet.js';
import type {BridgeError} from '../../lib/errors.js';
import {didYouMean} from '../../lib/nearest.js';
import {usageError} from '../common/values.js';
import type {CommandRegistry} from './command.js';

/** The error of a word that is not a command. Often it is the command of a server, and the `--` before it is missing. */
export function unknownCommandError(
	{names}: CommandRegistry,
	name: string,
	line?: readonly string[],
): BridgeError {
	const wrap = line && `To wrap a server, write: bridge ${line.map(shellQuote).join(' ')}`;
	const remedy = [didYouMean(name, names), wrap ?? 'See bridge --help.'].join(' ').trim();
	return usageError(`Unknown command "${name}".`, remedy);
}
