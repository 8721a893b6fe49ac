import type {BridgeError} from '../../../lib/core/errors.js';
import {twoServersError, usageError} from '../../shared/flag-values.js';
import type {ReplayFlags} from './options.js';

/** What goes together, and what does not. Returns the log that is named. */
export function checkReplayFlags(
	[path]: readonly string[],
	server: readonly string[],
	flags: ReplayFlags,
): string {
	if (path === undefined)
		throw usageError('bridge replay has no log.', 'Write: bridge replay LOG -- COMMAND');
	if (server.length > 0 && flags.url) throw twoServersError();
	const problem = flags.serve ? servingProblem(server, flags) : askingProblem(server, flags);
	if (problem) throw problem;
	return path;
}

type Rule = readonly [flag: string, isGiven: (flags: ReplayFlags) => boolean];

/** Flags of a replayed client. */
const ofClients: readonly Rule[] = [
	['--update', ({update}) => update],
	['--junit', ({junit}) => junit !== undefined],
	['--set', ({set}) => set.length > 0],
	['--timeout', ({timeout}) => timeout !== undefined],
	['--header', ({header}) => Object.keys(header).length > 0],
	['--env', ({env}) => Object.keys(env).length > 0],
	['--clean-env', ({cleanEnv}) => cleanEnv],
];

/** Flags for messages, which bytes do not have. */
const ofMessages: readonly Rule[] = [
	['--update', ({update}) => update],
	['--junit', ({junit}) => junit !== undefined],
	['--set', ({set}) => set.length > 0],
	['--ignore', ({ignore}) => ignore.length > 0],
	['--strict', ({strict}) => strict],
	['--side', ({side}) => side !== undefined],
	['--log', ({log}) => log !== undefined],
];

function servingProblem(server: readonly string[], flags: ReplayFlags): BridgeError | undefined {
	if (server.length > 0 || flags.url)
		return usageError('With --serve, the log is the server.', 'Leave the server out, or leave --serve out.');
	const [flag] = ofClients.find(([, isGiven]) => isGiven(flags)) ?? [];
	if (flag) return usageError(`${flag} is not valid with --serve.`, 'See bridge replay --help.');
	if (!flags.raw) return;
	if (!flags.listen)
		return usageError(
			'Raw bytes are played to a socket.',
			'Say where: --raw --serve --listen 127.0.0.1:PORT',
		);
	return rawProblem(flags);
}

function askingProblem(server: readonly string[], flags: ReplayFlags): BridgeError | undefined {
	const {raw, listen, update} = flags;
	if (listen) return usageError('--listen is for --serve.', 'Add --serve to play the recorded server.');
	if (update && flags.log)
		return usageError('--update writes to LOG itself.', 'Leave out --log, or --update.');
	if (raw)
		return server.length > 0 || !flags.url
			? usageError('Raw bytes are played to a socket.', 'Say where: --raw --url tcp://HOST:PORT')
			: rawProblem(flags);
	if (server.length === 0 && !flags.url)
		return usageError(
			'bridge replay has no server.',
			'Write: bridge replay LOG -- COMMAND, or --url URL; or --serve, to play the recorded server.',
		);
	return;
}

function rawProblem(flags: ReplayFlags): BridgeError | undefined {
	const [flag] = ofMessages.find(([, isGiven]) => isGiven(flags)) ?? [];
	return flag ? usageError(`${flag} is not valid with --raw.`, 'See bridge replay --help.') : undefined;
}
