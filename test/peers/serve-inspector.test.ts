import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {findIdentityOwner} from '../../lib/serve/sessions/identity-locks.js';
import type {JsonObject} from '../../lib/util/json.js';
import {codexKinds} from './codex-clients.js';
import {inspect} from './inspector.js';
import {Mcpdo} from './mcpdo.js';
import {bridgeFile} from './peers.js';
import {replyAndHold, replyWith} from './scripted-model.js';
import {servePlace} from './serve-client.js';

/* The Inspector's command lines, connected to `bridge serve` with both real Codex programs. */

for (const kind of codexKinds) {
	test(`${kind}: the Inspector runs three sessions over one connection, and resumes one after a disconnect and after kill -9 of bridge`, async t => {
		const at = await servePlace(t, kind);
		const args = [bridgeFile, 'serve', '--trust', '--timeout', '8'];
		const server = {type: 'stdio', command: process.execPath, args, env: at.env, cwd: at.repo};
		const inspector = await Mcpdo.start(t, at.home.folder, {codex: server});
		const call = (tool: string, args: JsonObject) => inspector.call('codex', tool, args);
		await inspector.connect('codex');
		const names = ['one', 'two', 'three'];
		const made = await Promise.all(
			names.map(identity => call('codex', {identity, prompt: replyWith(`I am ${identity}`)})),
		);
		t.deepEqual(
			made.map(({structured}) => structured.content),
			names.map(name => `I am ${name}`),
		);
		const [one, two, three] = made.map(({codexId}) => codexId);
		const [replied, late] = await Promise.all([
			call('codex-reply', {codex_id: one, prompt: replyWith('STILL one')}),
			call('codex-reply', {codex_id: two, prompt: replyAndHold('HALFWAY')}),
		]);
		t.like(replied.structured, {content: 'STILL one', identity: 'one'});
		t.like(late.error, {code: -32006, partial: 'HALFWAY', codex_id: two}, late.text);
		const closed = await call('codex_close', {identity: 'two'});
		t.like(closed.structured, {closed: true, codex_id: two, status: 'closed'});
		const left = call('codex-reply', {codex_id: three, prompt: replyAndHold('BEGUN')}).catch(() => undefined);
		while (at.model.requestCount(/BEGUN/) === 0) await sleep(10);
		await inspector.disconnect('codex');
		await left;
		t.true(at.audit().some(({event_type: event, identity}) => event === 'cancel' && identity === 'three'));
		await inspector.connect('codex');
		const again = await call('codex', {codex_id: three, prompt: replyWith('AGAIN')});
		t.like(again.structured, {content: 'AGAIN', codex_id: three, identity: 'three'}, again.text);
		const owner = await findIdentityOwner(at.state(), 'three');
		process.kill(Number(owner?.pid), 'SIGKILL');
		await inspector.connect('codex');
		const back = await call('codex', {codex_id: three, prompt: replyWith('BACK')});
		t.like(back.structured, {content: 'BACK', codex_id: three, identity: 'three'}, back.text);
	});

	test.serial(`${kind}: the Inspector lists the tools and accepts their schemas`, async t => {
		const {home, env, repo} = await servePlace(t, kind);
		const settings = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
		const target = [...settings, '--cwd', repo, process.execPath, bridgeFile, 'serve', '--trust'];
		const listed = await inspect(home.folder, target, ['tools/list', '--strict']);
		t.is(listed.code, 0, String(listed.stdout));
		for (const name of ['codex', 'codex-reply', 'codex_threads', 'codex_status', 'codex_close'])
			t.true(String(listed.stdout).includes(`"${name}"`), name);
	});
}
