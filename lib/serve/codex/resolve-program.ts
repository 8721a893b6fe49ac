import {access, constants, realpath} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {basename, delimiter, dirname, join, resolve} from 'node:path';
import process from 'node:process';

/** The target triples in the npm packages of Codex, by platform and architecture. */
const targetTriples: {readonly [system: string]: string} = {
	'linux-x64': 'x86_64-unknown-linux-musl',
	'linux-arm64': 'aarch64-unknown-linux-musl',
	'darwin-x64': 'x86_64-apple-darwin',
	'darwin-arm64': 'aarch64-apple-darwin',
};

/**
 * Returns the path of the program that a command starts, or undefined if the command does not exist. For the
 * npm launcher script, returns the native program: on Node 20 the launcher stays running as an unneeded
 * parent process.
 */
export async function resolveProgram(
	command: string,
	cwd: string,
	path: string,
): Promise<string | undefined> {
	const found = await findCommand(command, cwd, path);
	if (found === undefined) return;
	const file = await realpath(found);
	return (basename(file) === 'codex.js' ? await nativeProgram(file) : undefined) ?? found;
}

async function findCommand(command: string, cwd: string, path: string): Promise<string | undefined> {
	const isPath = command.includes('/') || command.includes('\\');
	// On Windows, the code that starts the process resolves the file extension.
	if (process.platform === 'win32' && !isPath) return command;
	const candidates = isPath
		? [resolve(cwd, command)]
		: path.split(delimiter).map(folder => resolve(cwd, folder, command));
	for (const candidate of candidates) if (await isExecutable(candidate)) return candidate;
	return;
}

async function nativeProgram(launcher: string): Promise<string | undefined> {
	const system = `${process.platform}-${process.arch}`;
	const triple = targetTriples[system];
	if (triple === undefined) return;
	try {
		const found = createRequire(launcher).resolve(`@openai/codex-${system}/package.json`);
		const program = join(dirname(found), 'vendor', triple, 'bin', 'codex');
		return (await isExecutable(program)) ? program : undefined;
	} catch {
		// Not installed as an npm package. The launcher script finds its program.
		return;
	}
}

const isExecutable = (file: string): Promise<boolean> =>
	access(file, constants.X_OK).then(
		() => true,
		() => false,
	);
