import {realpath} from 'node:fs/promises';
import {basename} from 'node:path';
import {PACKAGE_NAME} from '../../util/package-name.js';
import {resolveProgram} from './resolve-program.js';

/** The environment of a command, and the program to compare it with. */
export type CommandContext = {
	readonly bridgeScript: string;
	readonly cwd: string;
	readonly path: string;
	/** The remaining number of program lookups. */
	readonly budget: {lookups: number};
};

/** Programs whose first argument without a dash is the script, package or program to run. */
const runners: ReadonlySet<string> = new Set([
	'node',
	'npx',
	'npm',
	'pnpm',
	'pnpx',
	'yarn',
	'bun',
	'bunx',
	'env',
]);
/** Subcommands of the runners that precede that argument. */
const subcommands: ReadonlySet<string> = new Set(['exec', 'x', 'dlx', 'run']);
const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'fish', 'cmd']);
/** Flags of bridge without a value. The word after any other flag is its value. */
const booleanFlags: ReadonlySet<string> = new Set([
	'--debug',
	'--fast',
	'--cache-tools',
	'--clean-env',
	'--strict',
]);

/** Limit on nested commands, such as a shell that starts node. */
const MAX_DEPTH = 4;
/** Limit per shell script. */
const MAX_COMMANDS = 20;

/**
 * Whether a command line starts `bridge serve`: directly, with node, npx or a shell, or behind `bridge --`.
 */
export async function startsBridgeServe(
	words: readonly string[],
	context: CommandContext,
	depth = 0,
): Promise<boolean> {
	const [program = '', ...rest] = words;
	if (program === '' || depth > MAX_DEPTH) return false;
	const inner = await innerCommands(program, rest, context);
	for (const command of inner) if (await startsBridgeServe(command, context, depth + 1)) return true;
	return isServe(rest) && (await isBridge(program, context));
}

/** The command lines that a command runs, as far as its arguments show them. */
async function innerCommands(
	program: string,
	rest: readonly string[],
	context: CommandContext,
): Promise<ReadonlyArray<readonly string[]>> {
	const name = programName(program);
	if (shells.has(name)) return rest.flatMap(commandsIn).slice(0, MAX_COMMANDS);
	if (runners.has(name)) {
		const at = rest.findIndex(word => !word.startsWith('-') && !subcommands.has(word) && !isAssignment(word));
		if (at === -1) return [];
		// npm forwards the words after `--`.
		const after = rest[at + 1] === '--' ? at + 2 : at + 1;
		return [[rest[at] ?? '', ...rest.slice(after)]];
	}
	const end = rest.indexOf('--');
	return end !== -1 && (await isBridge(program, context)) ? [rest.slice(end + 1)] : [];
}

/** Splits a shell script into commands, each a list of words without quotes. */
const commandsIn = (script: string): string[][] =>
	script.split(/[;&|\n]/, MAX_COMMANDS).map(command => {
		const words = command.split(/\s/).map(word => word.replaceAll(/["'()]/g, ''));
		const start = words.findIndex(word => word !== '' && word !== 'exec' && !isAssignment(word));
		return start === -1 ? [] : words.slice(start).filter(Boolean);
	});

const isAssignment = (word: string): boolean => /^\w+=/.test(word);

/** Whether the first argument of bridge that is not a flag is `serve`. */
function isServe(words: readonly string[]): boolean {
	for (let at = 0; at < words.length; at++) {
		const word = words[at] ?? '';
		if (word === '--') return false;
		if (!word.startsWith('-')) return word === 'serve';
		if (!booleanFlags.has(word) && !word.includes('=')) at++;
	}
	return false;
}

async function isBridge(word: string, {bridgeScript, cwd, path, budget}: CommandContext): Promise<boolean> {
	// A scoped package with the same name is a different package.
	if (['bridge', 'mcp-bridge', PACKAGE_NAME].includes(programName(word))) return !word.startsWith('@');
	if (budget.lookups-- <= 0) return false;
	const file = await resolveProgram(word, cwd, path).catch(() => undefined);
	return file !== undefined && (await realpath(file).catch(() => file)) === bridgeScript;
}

/** The name of a program or package, without folder, extension and version. */
function programName(word: string): string {
	const name = basename(word.replaceAll('\\', '/')).replace(/\.(?:[cm]?js|cmd|exe|ps1)$/, '');
	const at = name.indexOf('@', 1);
	return at === -1 ? name : name.slice(0, at);
}
