import {chmodSync, existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {startBridge, startReady} from '../../helpers/bridge.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {childrenOf, place, ServeClient, startServe} from './support.js';

for (const kind of fakeKinds) {
	test(`${kind}: times out calls while Codex is suspended, and uses it again once it resumes [E6] [FR-14.3]`, async t => {
		const at = await place(t, kind);
		at.configure('[plugins.codex-mcp]\nrequest_timeout_secs = 3\n');
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
		const [codex = 0] = childrenOf(client.running.pid);
		process.kill(codex, 'SIGSTOP');
		const late = await client.reply(codexId, 'say:LATE');
		t.like(late.error, {code: -32006, timeout_secs: 3});
		t.like(await client.status(), {child_alive: true});
		process.kill(codex, 'SIGCONT');
		t.is((await client.reply(codexId, 'say:AGAIN')).structured.content, 'AGAIN');
	});

	test(`${kind}: reports the signal of a killed Codex and does not restart it [E1] [FR-11.2]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const slow = client.codex({prompt: 'slow', identity: 'a'});
		await client.busy('a');
		const [codex = 0] = childrenOf(client.running.pid);
		process.kill(codex, 'SIGKILL');
		t.like((await slow).error, {code: -32005, exit_code: null, signal: 'SIGKILL'});
		t.regex((await client.codex({prompt: 'x'})).text, /SIGKILL/);
		t.like(await client.status(), {child_alive: false, signal: 'SIGKILL'});
	});
}

test('does not run the Codex that a cloned repository names, unless the repository is trusted [K1]', async t => {
	const at = await place(t, 'app-server');
	const canary = join(at.base, 'canary');
	const program = join(at.repo, 'codex');
	writeFileSync(program, `#!/bin/sh\ntouch ${canary}\n`);
	chmodSync(program, 0o755);
	at.configure(`[plugins.codex-mcp]\ncodex_bin = ${JSON.stringify(program)}\n`);
	const {ATM_AGENT_MCP_CODEX_BIN: codex, ...env} = at.env;
	// bridge finds the fake Codex on the PATH.
	const path = `${join(String(codex), '..')}:${env.PATH}`;
	const running = await startReady(['serve'], {env: {...env, PATH: path}, cwd: at.repo});
	t.teardown(() => running.child.kill('SIGKILL'));
	t.false((await new ServeClient(running).codex({prompt: 'say:1'})).isError);
	t.false(existsSync(canary));
	t.regex(running.stderr, /codex_bin/);
});

test('writes secrets of prompts and the environment to neither the log nor the audit log [K4]', async t => {
	const at = await place(t, 'app-server');
	const secret = 'sk-proj-CANARYcanaryCANARYcanary1234567890';
	const running = await startReady(['serve', '--trust', '--debug'], {
		env: {...at.env, OPENAI_API_KEY: secret},
		cwd: at.repo,
	});
	t.teardown(() => running.child.kill('SIGKILL'));
	const client = new ServeClient(running);
	await client.codex({prompt: `say:1\nOPENAI_API_KEY=${secret}`, identity: 'a'});
	await running.end();
	t.false(running.stderr.includes(secret));
	t.false(JSON.stringify(at.audit()).includes(secret));
});

for (const delay of [0, 50, 150, 300])
	test(`exits cleanly on a signal ${delay} ms after the start [L3]`, async t => {
		const at = await place(t, 'app-server');
		const running = startBridge(['serve', '--trust'], {env: at.env, cwd: at.repo});
		t.teardown(() => running.child.kill('SIGKILL'));
		// The state of the startup at this time varies.
		setTimeout(() => running.child.kill('SIGTERM'), delay);
		const {code, signal} = await running.exited;
		t.true(code === 0 || signal === 'SIGTERM', `${code} ${signal} ${running.stderr}`);
		t.deepEqual(running.lines, []);
	});

test('exits without a stack trace when the client closes its pipes [L4]', async t => {
	const client = await startServe(t, await place(t, 'app-server'));
	client.running.child.stdout?.destroy();
	client.running.stdin.end();
	t.is((await client.running.exited).code, 0);
	t.notRegex(client.running.stderr, /\n\s+at /);
});

test('rejects flags of bridge serve in other commands, and words in bridge serve', async t => {
	const running = startBridge(['--identity', 'x', '--', 'true']);
	t.is((await running.exited).code, 2);
	t.regex(running.stderr, /bridge serve/);
	const help = startBridge(['serve', '--help']);
	t.is((await help.exited).code, 0);
	t.regex(help.lines.join('\n'), /bridge serve --identity arch-ctm/);
	const wrong = startBridge(['serve', 'word']);
	t.is((await wrong.exited).code, 2);
});
