import type {BridgeError} from '../../../lib/core/errors.js';
import {twoServersError, usageError} from '../../shared/flag-values.js';
import type {ReplayFlags} from './options.js';

/** Rejects flags that exclude each other. Returns the path of the log. */
export function checkReplayFlags(
	[path]: readonly string[],
	server: readonly string[],
	flags: ReplayFlags,
): string {
	if (path === undefined)
		throw usageError('bridge replay needs a log.', 'Write: bridge replay LOG -- COMMAND');
	if (server.length > 0 && flags.url) throw twoServersError();
	const error = flags.serve ? findServeError(server, flags) : findClientError(server, flags);
	if (error) throw error;
	return path;
}

type Rule = readonly [flag: string, isSet: (flags: ReplayFlags) => boolean];

/** Flags that only apply to a replayed client. */
const clientRules: readonly Rule[] = [
	['--update', ({update}) => update],
	['--junit', ({junit}) => junit !== undefined],
	['--set', ({set}) => set.length > 0],
	['--timeout', ({timeout}) => timeout !== undefined],
	['--header', ({header}) => Object.keys(header).length > 0],
	['--env', ({env}) => Object.keys(env).length > 0],
	['--clean-env', ({cleanEnv}) => cleanEnv],
];

/** Flags that only apply to messages, not to raw bytes. */
const messageRules: readonly Rule[] = [
	['--update', ({update}) => update],
	['--junit', ({junit}) => junit !== undefined],
	['--set', ({set}) => set.length > 0],
	['--ignore', ({ignore}) => ignore.length > 0],
	['--strict', ({strict}) => strict],
	['--side', ({side}) => side !== undefined],
	['--log', ({log}) => log !== undefined],
];

function findServeError(server: readonly string[], flags: ReplayFlags): BridgeError | undefined {
	if (server.length > 0 || flags.url)
		return usageError('--serve and a live server exclude each other.', 'Remove the server or --serve.');
	const [flag] = clientRules.find(([, isSet]) => isSet(flags)) ?? [];
	if (flag) return usageError(`${flag} is not valid with --serve.`, 'See bridge replay --help.');
	if (!flags.raw) return;
	if (!flags.listen)
		return usageError(
			'--raw --serve needs an address to listen on.',
			'Write --raw --serve --listen 127.0.0.1:PORT',
		);
	return findRawError(flags);
}

function findClientError(server: readonly string[], flags: ReplayFlags): BridgeError | undefined {
	const {raw, listen, update} = flags;
	if (listen)
		return usageError('--listen only applies to --serve.', 'Add --serve to play the recorded server.');
	if (update && flags.log) return usageError('--update writes to LOG itself.', 'Remove --log or --update.');
	if (raw)
		return server.length > 0 || !flags.url
			? usageError('--raw needs the address of a socket.', 'Write --raw --url tcp://HOST:PORT')
			: findRawError(flags);
	if (server.length === 0 && !flags.url)
		return usageError(
			'bridge replay needs a server.',
			'Write: bridge replay LOG -- COMMAND, or --url URL; or --serve, to play the recorded server.',
		);
	return;
}

function findRawError(flags: ReplayFlags): BridgeError | undefined {
	const [flag] = messageRules.find(([, isSet]) => isSet(flags)) ?? [];
	return flag ? usageError(`${flag} is not valid with --raw.`, 'See bridge replay --help.') : undefined;
}
