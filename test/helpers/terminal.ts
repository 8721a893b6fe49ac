import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {stripVTControlCharacters} from 'node:util';
import type {ExecutionContext} from 'ava';
import {bridgeBin} from './bridge.js';
import {until} from './pipeline.js';

export const bridgeLine = (...args: readonly string[]): string =>
	[process.execPath, bridgeBin, ...args].map(word => `'${word}'`).join(' ');

/** Runs a script in a terminal. Resolves to its exit code and its output. */
export async function onTerminal(
	t: ExecutionContext,
	script: string,
	env: NodeJS.ProcessEnv = process.env,
): Promise<[number, string]> {
	const terminal = startOnTerminal(t, script, env);
	const [code] = await once(terminal.child, 'close');
	return [code, terminal.text()];
}

export function startOnTerminal(
	t: ExecutionContext,
	script: string,
	env: NodeJS.ProcessEnv = process.env,
): {
	readonly child: ChildProcess;
	readonly text: () => string;
	/** Types keys: `\u0003` is Ctrl+C. */
	readonly type: (keys: string) => void;
	/** Resolves when a pattern matches the text without its colors. */
	readonly shows: (pattern: RegExp) => Promise<void>;
} {
	// `script` runs $SHELL, and shells differ: after Ctrl+C, some exit with 130 whatever their command returns.
	const child = spawn('script', ['-qec', script, '/dev/null'], {
		stdio: 'pipe',
		env: {...env, SHELL: '/bin/sh'},
	});
	t.teardown(() => child.kill('SIGKILL'));
	let text = '';
	child.stdout.setEncoding('utf8').on('data', (part: string) => {
		text += part;
	});
	return {
		child,
		text: () => text,
		type: keys => void child.stdin.write(keys),
		shows: pattern => until(() => pattern.test(stripVTControlCharacters(text))),
	};
}
