import type {BridgeError} from '../lib/errors.js';
import type {Flags, Invocation} from './flags.js';
import {invalid} from './values.js';

/** What goes together, and what does not. Returns the log that is named. */
export function checkReplay({words: [, path, extra], server, flags}: Invocation): string {
	if (path === undefined) throw noLog();
	if (extra !== undefined)
		throw invalid(`bridge replay has no use for ${extra}.`, 'Name one log: a file, or a folder of files.');
	if (server && flags.url)
		throw invalid('There is a --url and a command.', 'Name one server: --url URL, or -- COMMAND.');
	const problem = flags.replay.isServing ? servingProblem(server, flags) : askingProblem(server, flags);
	if (problem) throw problem;
	return path;
}

const noLog = (): BridgeError =>
	invalid('replay has to know which log to replay.', 'Write: bridge replay LOG -- COMMAND');

/** Flags that are for one who plays the client. */
const ofClients = [
	['--update', ({replay}: Flags) => replay.isUpdating],
	['--junit', ({replay}: Flags) => replay.junit !== undefined],
	['--set', ({replay}: Flags) => replay.given.length > 0],
	['--timeout', ({timeoutMs}: Flags) => timeoutMs !== undefined],
	['--header', ({headers}: Flags) => Object.keys(headers).length > 0],
	['--env', ({env}: Flags) => Object.keys(env).length > 0],
] as const;

/** Flags that are for messages, and not for bytes. */
const ofMessages = [
	['--update', ({replay}: Flags) => replay.isUpdating],
	['--junit', ({replay}: Flags) => replay.junit !== undefined],
	['--set', ({replay}: Flags) => replay.given.length > 0],
	['--ignore', ({replay}: Flags) => replay.ignored.length > 0],
	['--strict', ({replay}: Flags) => replay.isStrict],
	['--side', ({replay}: Flags) => replay.side !== undefined],
	['--log', ({log}: Flags) => log !== undefined],
] as const;

function servingProblem(server: Invocation['server'], flags: Flags): BridgeError | undefined {
	if (server || flags.url)
		return invalid('With --serve, the log is the server.', 'Leave the server out, or leave --serve out.');
	const [flag] = ofClients.find(([, isGiven]) => isGiven(flags)) ?? [];
	if (flag) return invalid(`${flag} has no meaning with --serve.`, 'See bridge replay --help.');
	if (!flags.replay.isRaw) return;
	if (!flags.replay.listen)
		return invalid('Raw bytes are played to a socket.', 'Say where: --raw --serve --listen 127.0.0.1:PORT');
	return rawProblem(flags);
}

function askingProblem(server: Invocation['server'], flags: Flags): BridgeError | undefined {
	const {isRaw, listen, isUpdating} = flags.replay;
	if (listen) return invalid('--listen is for --serve.', 'Add --serve to play the recorded server.');
	if (isUpdating && flags.log)
		return invalid('--update writes to LOG itself.', 'Leave out --log, or --update.');
	if (isRaw)
		return server || !flags.url
			? invalid('Raw bytes are played to a socket.', 'Say where: --raw --url tcp://HOST:PORT')
			: rawProblem(flags);
	if (!server && !flags.url)
		return invalid(
			'replay has to know which server to ask.',
			'Write: bridge replay LOG -- COMMAND, or --url URL; or --serve, to play the recorded server.',
		);
	return;
}

function rawProblem(flags: Flags): BridgeError | undefined {
	const [flag] = ofMessages.find(([, isGiven]) => isGiven(flags)) ?? [];
	return flag ? invalid(`${flag} has no meaning with --raw.`, 'See bridge replay --help.') : undefined;
}
