import {spawn} from 'node:child_process';
import process from 'node:process';
import test from 'ava';
import {runBridge} from '../helpers/bridge.js';
import {freePort} from '../helpers/free-port.js';
import {serverOf, versions} from './eras.js';
import {serverFile} from './peers.js';
import {newMarker} from './processes.js';

/* `bridge versions` of real servers, each of which supports one version. */

for (const version of versions)
	test.serial(`bridge versions detects a ${version} server`, async t => {
		t.timeout(60_000);
		const {command, args, env = {}} = serverOf(version, newMarker(t));
		const flags = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
		const {code, stdout} = await runBridge(['versions', ...flags, '--', command, ...args]);
		t.is(code, 0);
		const text = stdout.join('\n');
		t.regex(text, new RegExp(`speaks +${version}\\n`));
		t.regex(text, new RegExp(`speaks ${version} with it`));
		t.regex(text, /offers +\d\d tools, \d prompts/);
		t.regex(text, new RegExp(`${version} {2}nothing$`, 'm'));
	});

test.serial('bridge versions --url probes a real server over streamable HTTP', async t => {
	t.timeout(60_000);
	const port = await freePort();
	const server = spawn(process.execPath, [serverFile('everything'), 'streamableHttp'], {
		env: {...process.env, PORT: String(port)},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	t.teardown(() => server.kill());
	await new Promise<void>(resolve => {
		for (const output of [server.stdout, server.stderr])
			output.setEncoding('utf8').on('data', (text: string) => text.includes('listening') && resolve());
	});
	const {code, stdout} = await runBridge(['versions', '--url', `http://127.0.0.1:${port}/mcp`]);
	t.is(code, 0);
	const text = stdout.join('\n');
	t.regex(text, /speaks +2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25\n/);
	t.regex(text, /offers +13 tools/);
});
