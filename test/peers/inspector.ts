import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {inspectorFile} from './peers.js';

/** How a run of the Inspector ended. */
export interface Inspection {
	readonly code: unknown;
	readonly stdout: unknown;
}

const run = promisify(execFile);

/** Runs the Inspector's command line as a user does; a failure of the Inspector is an outcome too. */
export async function inspect(
	folder: string,
	target: readonly string[],
	method: readonly string[],
): Promise<Inspection> {
	const args = [inspectorFile, '--cli', ...target, '--method', ...method];
	// It keeps a catalog in the home directory, which must not be the user's.
	const env = {...process.env, HOME: folder};
	return run(process.execPath, args, {env, cwd: folder}).then(
		({stdout}) => ({code: 0, stdout}),
		(error: unknown) => ({
			code: Reflect.get(Object(error), 'code'),
			stdout: Reflect.get(Object(error), 'stdout'),
		}),
	);
}
