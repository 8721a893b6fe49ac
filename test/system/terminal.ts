import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {bridgeBin} from '../helpers/bridge.js';

/** Runs `bridge ARGS` on its own terminal, and replies to its prompt. `stopAt` is the output after which it gets Ctrl+C. */
export async function onTerminal(
	cwd: string,
	env: NodeJS.ProcessEnv,
	args: string,
	reply: string,
	stopAt?: string,
) {
	const command = `${process.execPath} ${bridgeBin} ${args}`;
	const child: ChildProcess = spawn('script', ['-qec', command, '/dev/null'], {
		cwd,
		env,
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	let out = '';
	let isStopped = false;
	child.stdout?.setEncoding('utf8').on('data', (text: string) => {
		if (!out.includes('[y/N]') && (out + text).includes('[y/N]')) child.stdin?.write(`${reply}\n`);
		out += text;
		if (stopAt === undefined || isStopped || !out.includes(stopAt)) return;
		isStopped = true;
		child.stdin?.write('\x03');
	});
	const [code] = await once(child, 'close');
	return {code, out};
}
