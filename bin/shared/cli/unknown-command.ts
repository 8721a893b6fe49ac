import type {BridgeError} from '../../../lib/core/errors.js';
import {didYouMean} from '../../../lib/util/did-you-mean.js';
import {shellQuote} from '../../../lib/util/shell-quote.js';
import {usageError} from '../flag-values.js';
import type {CommandRegistry} from './command.js';

/** The error for an unknown command. The word is often a server command whose `--` is missing. */
export function unknownCommandError(
	{names}: CommandRegistry,
	name: string,
	line?: readonly string[],
): BridgeError {
	const wrap = line && `To wrap a server, write: bridge ${line.map(shellQuote).join(' ')}`;
	const remedy = [didYouMean(name, names), wrap ?? 'See bridge --help.'].join(' ').trim();
	return usageError(`Unknown command "${name}".`, remedy);
}
