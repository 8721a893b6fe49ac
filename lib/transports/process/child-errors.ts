import {basename} from 'node:path';
import {BridgeError} from '../../core/errors.js';
import {type Environment, isOnPath} from './environment.js';
import type {ChildExit} from './lifetime.js';

/**
 * The error of a child that exited. `withheld` is a sentence with the variables that the allow-list withheld.
 */
export function childExitedError(
	name: string,
	{code, signal, cause}: ChildExit,
	stderrTail: string,
	withheld: string,
): BridgeError {
	const exitText = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
	const event = cause === 'half-closed' ? 'closed a pipe to bridge and was terminated' : exitText;
	const remedy = `Fix the cause, then connect again. ${withheld}`.trimEnd();
	const evidence = stderrTail === '' ? 'It wrote nothing to stderr.' : `The end of its stderr: ${stderrTail}`;
	const details = {exitCode: code, signal, ...(withheld === '' ? {} : {withheld})};
	return new BridgeError('ERR_CHILD_EXITED', `${name} ${event}.`, remedy, details, evidence);
}

export function spawnError(command: string, error: NodeJS.ErrnoException, env: Environment): BridgeError {
	// Also EACCES for a missing command: exec reports it if a folder of the PATH is not searchable.
	const isMissing =
		error.code === 'ENOENT' ||
		(error.code === 'EACCES' && basename(command) === command && !isOnPath(command, env));
	const reasons: {[code: string]: string} = {
		ENOENT: 'there is no such command',
		EACCES: 'it may not be executed',
	};
	const reason = reasons[isMissing ? 'ENOENT' : (error.code ?? '')];
	return new BridgeError(
		reason ? 'ERR_COMMAND_UNUSABLE' : 'ERR_UPSTREAM_UNREACHABLE',
		`${command} could not be started: ${reason ?? error.message}.`,
		isMissing && command.includes(' ')
			? 'Commands are run without a shell. Pass the arguments separately: bridge -- COMMAND ARG…, or args in a configuration.'
			: 'Check the spelling and the PATH. Commands are run without a shell.',
		{command},
	);
}
