import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {newHome} from '../cli/home.js';
import {bridgeBin} from '../helpers/bridge.js';
import {need} from './tools.js';

/** Runs `bridge ARGS` on a terminal of its own, and answers what it asks. */
async function onTerminal(cwd: string, env: NodeJS.ProcessEnv, args: string, answer: string) {
	const command = `${process.execPath} ${bridgeBin} ${args}`;
	const child: ChildProcess = spawn('script', ['-qec', command, '/dev/null'], {
		cwd,
		env,
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	let out = '';
	child.stdout?.setEncoding('utf8').on('data', (text: string) => {
		if (!out.includes('[y/N]') && (out + text).includes('[y/N]')) child.stdin?.write(`${answer}\n`);
		out += text;
	});
	const [code] = await once(child, 'close');
	return {code, out};
}

for (const [answer, isWritten] of [
	['y', true],
	['YES', true],
	['n', false],
	['', false],
] as const)
	test(`install asks on a terminal, and ${answer || 'an empty line'} ${isWritten ? 'writes' : 'writes nothing'}`, async t => {
		need('script', 'bsdutils');
		const {cwd, env} = newHome(t);
		const {code, out} = await onTerminal(cwd, env, 'install claude', answer);
		t.regex(out, /New file .*\.mcp\.json:\r\n\+ \{/);
		t.regex(out, isWritten ? /Written\./ : /Nothing was written\./);
		t.is(code, isWritten ? 0 : 1);
		t.is(existsSync(join(cwd, '.mcp.json')), isWritten);
		if (isWritten) t.true('bridge' in JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8')).mcpServers);
	});
