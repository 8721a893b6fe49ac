import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {bridgeBin, fixture} from '../helpers/bridge.js';
import {logLine} from '../replay/support.js';
import {need} from './tools.js';

/** A log whose replay with the recorded timing takes longer than a second. */
function longLog(t: ExecutionContext): string {
	const folder = mkdtempSync(join(tmpdir(), 'bridge-replay-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const lines = Array.from({length: 20}, (_, id) => {
		const time = `2026-11-16T01:02:0${(id / 10).toFixed(1)}Z`;
		const params = {name: 'echo', arguments: {message: String(id)}};
		return [
			logLine('client', 'it', {jsonrpc: '2.0', id, method: 'tools/call', params}, {time}),
			logLine('it', 'client', {jsonrpc: '2.0', id, result: {content: []}}, {time}),
		].join('\n');
	});
	writeFileSync(join(folder, 'log.ndjson'), lines.join('\n'));
	return join(folder, 'log.ndjson');
}

/** Runs the replay on a terminal, and returns its output. */
async function onTerminal(log: string, env: NodeJS.ProcessEnv): Promise<string> {
	const server = `${process.execPath} ${fixture('asking')}`;
	const command = `${process.execPath} ${bridgeBin} replay ${log} --timing recorded -- ${server}`;
	const child = spawn('script', ['-qec', command, '/dev/null'], {env, stdio: ['ignore', 'pipe', 'inherit']});
	let out = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		out += text;
	});
	const [code] = await once(child, 'close');
	return `${out}${code}`;
}

test('a long replay shows a progress bar and colored differences on a terminal, unless NO_COLOR is set', async t => {
	need('script', 'bsdutils');
	const log = longLog(t);
	const {NO_COLOR: _, ...env} = process.env;
	const [colored, plain] = await Promise.all([
		onTerminal(log, env),
		onTerminal(log, {...env, NO_COLOR: '1'}),
	]);
	for (const out of [colored, plain]) {
		t.regex(out, /Replaying █+░+ \d+ %/);
		t.regex(out, /20 compared: 0 same, 20 different/);
		t.true(out.endsWith('1'));
	}
	t.true(colored.includes('\u001b[31m✗ 1 tools/call echo\u001b[0m'));
	t.true(colored.includes('\u001b[32m    + '));
	t.false(plain.includes('\u001b[3'));
});
