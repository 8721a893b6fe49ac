import {execFile} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import {promisify} from 'node:util';
import test from 'ava';
import {runBridge} from '../helpers/bridge.js';
import {newFolder} from '../helpers/program.js';

const run = promisify(execFile);
const scriptOf = async (shell: string): Promise<string> =>
	`${(await runBridge(['completion', shell])).stdout.join('\n')}\n`;

for (const [line, expected] of [
	['bridge gatew', ['gateway']],
	['mcp-bridge help vers', ['version', 'versions']],
	['bridge gateway --print-client c', ['claude', 'codex', 'cursor']],
	['bridge gateway --li', ['--listen']],
	['bridge install ', ['claude', 'codex', 'cursor', 'vscode']],
] as const)
	test(`fish completes ${line}`, async t => {
		const file = join(await newFolder(t), 'bridge.fish');
		await writeFile(file, await scriptOf('fish'));
		const {stdout} = await run('fish', ['-c', `source '${file}'; complete -C '${line}'`]);
		t.deepEqual(
			stdout.split('\n').flatMap(row => row.split('\t', 1)[0] || []),
			[...expected],
		);
	});

test('zsh loads its completion script, which registers both names', async t => {
	const folder = await newFolder(t);
	const file = join(folder, 'bridge.zsh');
	await writeFile(file, await scriptOf('zsh'));
	const script = `autoload -Uz compinit; compinit -u -d '${folder}/dump'; source '${file}'; print $_comps[bridge] $_comps[mcp-bridge]`;
	const {stdout, stderr} = await run('zsh', ['-f', '-c', script], {env: {...process.env, HOME: folder}});
	t.is(stderr, '');
	t.is(stdout, '_bridge _bridge\n');
});
