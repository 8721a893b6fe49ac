import {execFile} from 'node:child_process';
import {appendFile, mkdir, symlink} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import process from 'node:process';
import {promisify} from 'node:util';
import test from 'ava';
import {runBridge} from '../helpers/bridge.js';
import {codexes} from './codex.js';
import {codexKinds, prepareCodex} from './codex-clients.js';
import {bridgeFile} from './peers.js';
import {callTool} from './scripted-model.js';

const run = promisify(execFile);

for (const kind of codexKinds)
	test.serial(
		`${kind}: Codex reads the entry that install writes, and starts bridge serve in a turn`,
		async t => {
			const {home, model} = await prepareCodex(t);
			const {folder} = home;
			// bridge finds Codex on its PATH.
			await mkdir(join(folder, 'bin'));
			await symlink(codexes[kind].launcher, join(folder, 'bin', 'codex'));
			const env = {...home.env, PATH: `${join(folder, 'bin')}${delimiter}${home.env.PATH}`};
			const {code, stderr} = await runBridge(['install', 'codex', '--identity', 'arch', '--yes'], '', {
				cwd: folder,
				env,
			});
			t.is(code, 0, stderr);
			const {native} = codexes[kind];
			const {stdout} = await run(native, ['mcp', 'list', '--json'], {cwd: folder, env});
			t.like(JSON.parse(stdout), [
				{
					name: 'bridge',
					enabled: true,
					startup_timeout_sec: 60,
					tool_timeout_sec: 3600,
					transport: {
						type: 'stdio',
						command: process.execPath,
						args: [bridgeFile, 'serve', '--identity', 'arch'],
					},
				},
			]);
			// The first turn waits for tools only if they are required.
			await appendFile(join(folder, 'config.toml'), 'required = true\n');
			const words = ['exec', '--skip-git-repo-check', callTool('bridge', 'codex_status')];
			const turn = run(native, words, {cwd: folder, env});
			turn.child.stdin?.end();
			t.regex((await turn).stdout, new RegExp(`child_alive.{1,20}true[^]*backend.{1,20}${kind}`));
			t.true(model.toolsOf('bridge').includes('codex_close'));
		},
	);
