import {access, constants, realpath} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {basename, delimiter, dirname, join, resolve} from 'node:path';
import process from 'node:process';

/** What npm's packages of Codex call the systems that they hold a program for. */
const targetTriples: {readonly [system: string]: string} = {
	'linux-x64': 'x86_64-unknown-linux-musl',
	'linux-arm64': 'aarch64-unknown-linux-musl',
	'darwin-x64': 'x86_64-apple-darwin',
	'darwin-arm64': 'aarch64-apple-darwin',
};

/**
 * The program that a command starts, by its path. For the script that npm installs this is the program behind it: on
 * Node 20 that script stays in between, and takes part in nothing but what may go wrong. Undefined when there is no such
 * command.
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
	// Windows has endings to try, which whoever starts programs there knows.
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
		// Installed some other way: the script knows.
		return;
	}
}

const isExecutable = (file: string): Promise<boolean> =>
	access(file, constants.X_OK).then(
		() => true,
		() => false,
	);
