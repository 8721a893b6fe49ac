import process from 'node:process';
import test from 'ava';
import {stateFolder} from '../../lib/atm/paths.js';
import {holderIn} from '../../lib/sessions/identity-locks.js';
import {until} from '../operators/support.js';
import {codexKinds} from './codex-clients.js';
import {inspect} from './inspector.js';
import {Mcpdo} from './mcpdo.js';
import {bridgeFile} from './peers.js';
import {sayAndHold, sayIt} from './scripted-model.js';
import {servePlace} from './serve-client.js';

/* `bridge serve` behind the Inspector's command lines, and in front of both real Codex programs. */

for (const kind of codexKinds) {
	test(`${kind}: the Inspector starts three sessions at once over one connection, replies, is told of a timeout, closes, leaves in mid-turn, and resumes, also after kill -9 of bridge`, async t => {
		const at = await servePlace(t, kind);
		const serve = (...args: string[]) => ({
			...{type: 'stdio', command: process.execPath, args: [bridgeFile, 'serve', '--trust', ...args]},
			...{env: at.env, cwd: at.repo},
		});
		const inspector = await Mcpdo.start(t, at.home.folder, {stays: serve('--timeout', '8'), leaves: serve()});
		await Promise.all([inspector.connect('stays'), inspector.connect('leaves')]);
		const names = ['one', 'two', 'three'];
		const [one, two, three] = await Promise.all(
			names.map(identity => inspector.call('stays', 'codex', {identity, prompt: sayIt(`I am ${identity}`)})),
		);
		t.deepEqual(
			[one, two, three].map(made => made?.structured.content),
			names.map(name => `I am ${name}`),
		);
		const fourth = await inspector.call('leaves', 'codex', {identity: 'four', prompt: sayIt('4')});
		const reply = (server: string, codexId: unknown, prompt: string) =>
			inspector.call(server, 'codex-reply', {codex_id: codexId, prompt});
		const [replied, late] = await Promise.all([
			reply('stays', one?.codexId, sayIt('STILL one')),
			reply('stays', two?.codexId, sayAndHold('HALFWAY')),
		]);
		t.like(replied.structured, {content: 'STILL one', identity: 'one'});
		t.like(late.error, {code: -32006, partial: 'HALFWAY', codex_id: two?.codexId}, late.text);
		const left = reply('leaves', fourth.codexId, sayAndHold('BEGUN')).catch(() => undefined);
		await until(() => at.model.asked() > 6);
		await inspector.disconnect('leaves');
		await left;
		t.true(at.audit().some(({event_type: event, identity}) => event === 'cancel' && identity === 'four'));
		const back = await inspector.call('stays', 'codex', {codex_id: fourth.codexId, prompt: sayIt('FOUR')});
		t.like(back.structured, {content: 'FOUR', identity: 'four'}, back.text);
		const closed = await inspector.call('stays', 'codex_close', {identity: 'three'});
		t.like(closed.structured, {closed: true, codex_id: three?.codexId, status: 'closed'});
		const holder = await holderIn(stateFolder(at.base, 'default'), 'one');
		process.kill(Number(holder?.pid), 'SIGKILL');
		await inspector.connect('stays');
		const resumed = await inspector.call('stays', 'codex', {codex_id: one?.codexId, prompt: sayIt('BACK')});
		t.like(resumed.structured, {content: 'BACK', codex_id: one?.codexId, identity: 'one'}, resumed.text);
	});

	test.serial(
		`${kind}: the Inspector lists the tools, and finds nothing wrong with their schemas`,
		async t => {
			const {home, env, repo} = await servePlace(t, kind);
			const settings = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
			const target = [...settings, '--cwd', repo, process.execPath, bridgeFile, 'serve', '--trust'];
			const listed = await inspect(home.folder, target, ['tools/list', '--strict']);
			t.is(listed.code, 0, String(listed.stdout));
			for (const name of ['codex', 'codex-reply', 'codex_threads', 'codex_status', 'codex_close'])
				t.true(String(listed.stdout).includes(`"${name}"`), name);
		},
	);
}
