import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {inspectorFile} from './peers.js';

/** The exit code and the output of a run of the Inspector. */
export interface Inspection {
	readonly code: unknown;
	readonly stdout: unknown;
}

const run = promisify(execFile);

/** Runs the Inspector's command line. A failure of the Inspector is a result, too. */
export async function inspect(
	folder: string,
	target: readonly string[],
	method: readonly string[],
): Promise<Inspection> {
	const args = [inspectorFile, '--cli', ...target, '--method', ...method];
	// The Inspector keeps a catalog in the home directory, which must not be the user's.
	const env = {...process.env, HOME: folder};
	return run(process.execPath, args, {env, cwd: folder}).then(
		({stdout}) => ({code: 0, stdout}),
		(error: unknown) => ({
			code: Reflect.get(Object(error), 'code'),
			stdout: Reflect.get(Object(error), 'stdout'),
		}),
	);
}
