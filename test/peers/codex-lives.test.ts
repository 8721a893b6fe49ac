import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {Envelope} from '../../lib/core/envelope.js';
import {child} from '../../lib/transports/process/child.js';
import {codexes} from './codex.js';
import {codexKinds, prepareCodex, runCodex, startCodex} from './codex-clients.js';
import {processesWith} from './processes.js';
import {replyAndHold, replyWith, runOutside} from './scripted-model.js';

/* How real Codex programs start and exit, and whether processes survive them. */

for (const kind of codexKinds) {
	test.serial(
		`${kind}: exits when its stdin closes, also after a cancellation, and leaves no process`,
		async t => {
			const {client, home} = await startCodex(t, kind);
			const {threadId} = await client.codex(replyWith('ONE'));
			const made = client.make('codex-reply', {threadId, prompt: replyAndHold('BEGUN')});
			await client.told('notifications/io.bridge/turn_started', made.id);
			client.cancel(made);
			await made.answer;
			client.backend.outgoing.complete();
			await client.backend.finish();
			t.deepEqual(await processesWith(home.folder), []);
		},
	);

	test.serial(
		`${kind}: exits when closed in mid-turn with a pending approval, and leaves no process [L1]`,
		async t => {
			const {client, home} = await startCodex(t, kind, {elicitation: {}});
			const stalled = client.make('codex', {prompt: replyAndHold('BEGUN')});
			await client.told('notifications/io.bridge/turn_started', stalled.id);
			const approval = client.make('codex', {
				prompt: runOutside('sleep 100'),
				'approval-policy': 'on-request',
			});
			await client.question();
			// The stages in front fail requests without a response.
			void Promise.allSettled([stalled.answer, approval.answer]);
			await client.backend.close();
			t.deepEqual(await processesWith(home.folder), []);
		},
	);

	test.serial(`${kind}: killing the npm launcher leaves no process`, async t => {
		const {home} = await prepareCodex(t);
		const {launcher} = codexes[kind];
		const codex = child({
			name: 'codex',
			command: launcher,
			args: [kind],
			env: home.env,
			cwd: home.folder,
			onStderr: () => {},
		});
		const responded = new Promise(resolve => codex.incoming.subscribe({next: resolve, error: () => {}}));
		const clientInfo = {name: 'test', version: '1'};
		const params = {clientInfo, capabilities: {}, protocolVersion: '2025-06-18'};
		codex.outgoing.next(
			Envelope.of({
				jsonrpc: '2.0',
				id: 1,
				method: 'initialize',
				params: kind === 'app-server' ? {clientInfo, capabilities: null} : params,
			}),
		);
		await responded;
		codex.kill();
		await codex.disconnected;
		t.deepEqual(await processesWith(home.folder), []);
	});
}

test.serial(
	'app-server: another process resumes a thread with its history, in the requested sandbox [FR-6.2]',
	async t => {
		const {home, model} = await prepareCodex(t);
		const before = await runCodex(t, 'app-server', home);
		const {threadId} = await before.codex(replyWith('ONE'), {
			'developer-instructions': 'DEVMARK',
			sandbox: 'workspace-write',
		});
		await before.backend.close();
		const after = await runCodex(t, 'app-server', home);
		const args = {threadId, prompt: replyWith('TWO')};
		const resume = {'io.bridge/resume': {sandbox: 'workspace-write'}};
		t.like(await after.make('codex-reply', args, resume).answer, {
			status: 'completed',
			text: 'TWO',
			threadId: String(threadId),
		});
		t.true(model.lastInput().includes('DEVMARK'));
		t.true(model.lastInput().includes('say ONE'));
		t.true(model.lastInput().includes('workspace-write'));
	},
);

test.serial('mcp-server: reports unknown_thread for a thread of another process', async t => {
	const {home} = await prepareCodex(t);
	const before = await runCodex(t, 'mcp-server', home);
	const {threadId} = await before.codex(replyWith('ONE'));
	await before.backend.close();
	const after = await runCodex(t, 'mcp-server', home);
	t.is((await after.reply(threadId, replyWith('TWO'))).status, 'unknown_thread');
});

test.serial('app-server: fails the turn if its configuration is invalid', async t => {
	const {home, model} = await prepareCodex(t);
	await writeFile(join(home.folder, 'config.toml'), 'this is [ no TOML');
	const client = await runCodex(t, 'app-server', home);
	const turn = await client.codex(replyWith('ONE'));
	t.is(turn.status, 'failed');
	t.regex(turn.text, /config\.toml:1:6.*Correct the file/s);
	t.is(model.requestCount(), 0);
});

test.serial('mcp-server: exits with the reason if its configuration is invalid', async t => {
	const {home} = await prepareCodex(t);
	await writeFile(join(home.folder, 'config.toml'), 'this is [ no TOML');
	const error = await t.throwsAsync(runCodex(t, 'mcp-server', home));
	t.regex(String((error as {sentence?: string}).sentence), /config\.toml:1:6/);
});
