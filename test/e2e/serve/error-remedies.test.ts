import {join} from 'node:path';
import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {until} from '../../helpers/program.js';
import {place, startServe} from './support.js';

/* Each error names a next step. These tests execute it. */

test('mcp-server: the next step in an error of the model works [S-D19]', async t => {
	const client = await startServe(t, await place(t, 'mcp-server'));
	const {codexId, text} = await client.codex({prompt: 'error:overloaded', identity: 'a'});
	t.regex(text, /overloaded/);
	t.true(text.includes(`codex-reply with codex_id ${codexId} continues in a new thread`), text);
	t.notRegex(text, /Start a new one/);
	const next = await client.reply(codexId, 'say:again');
	t.is(next.structured.content, 'again', next.text);
});

for (const kind of fakeKinds)
	test(`${kind}: a session whose identity is in use resumes after the next step of the error [S-D19]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const first = await client.codex({prompt: 'say:1', identity: 'a'});
		await client.close(first.codexId);
		const second = await client.codex({prompt: 'say:2', identity: 'a'});
		const conflict = await client.codex({prompt: 'say:3', codex_id: first.codexId});
		t.like(conflict.error, {code: -32001, codex_id: second.codexId});
		t.regex(
			conflict.text,
			/end it with codex_close, or start a new session with another identity, without codex_id\./,
		);
		t.notRegex(conflict.text, /or use another identity/);
		t.is((await client.codex({prompt: 'say:4', identity: 'b'})).structured.content, '4');
		await client.close(second.codexId);
		t.is((await client.codex({prompt: 'say:5', codex_id: first.codexId})).structured.content, '5');
	});

test('rejects the session of another bridge serve without suggesting its identity [S-D19]', async t => {
	const at = await place(t, 'app-server');
	const {codexId} = await (await startServe(t, at)).codex({prompt: 'say:1', identity: 'a'});
	const other = await startServe(t, at);
	const {text, error} = await other.codex({prompt: 'say:2', codex_id: codexId});
	t.is(error.code, -32001);
	t.regex(text, /or start a new session with another identity, without codex_id\./);
});

test('does not suggest codex-reply for the identity of a session that is closing [S-D19]', async t => {
	const client = await startServe(t, await place(t, 'app-server'));
	const slow = client.codex({prompt: 'slow\nstubborn', identity: 'a'});
	const {codex_id: codexId} = await client.busy('a');
	const closing = client.close(String(codexId));
	const {text, error} = await client.codex({prompt: 'say:1', identity: 'a'});
	t.is(error.code, -32001);
	t.regex(text, /That session is being closed: try again when it has ended, or use another identity\./);
	t.notRegex(text, /codex-reply/);
	await Promise.all([slow, closing]);
	await until(async () => !(await client.codex({prompt: 'say:2', identity: 'a'})).isError);
	t.pass();
});

test('rejects a folder as an agent file, and base instructions without a prompt [S-D19]', async t => {
	const at = await place(t, 'app-server');
	const client = await startServe(t, at);
	const folder = await client.codex({agent_file: '.'});
	t.true(folder.text.includes(`The agent file ${at.repo} cannot be used: it is a folder.`), folder.text);
	const base = await client.codex({agent_file: 'x.md', agent_file_as: 'base-instructions'});
	t.regex(base.text, /^agent_file becomes the base-instructions, so a new session also needs a prompt\./);
});

test('bridge summary explains why a session that was closed while idle has none [S-D19]', async t => {
	const at = await place(t, 'app-server');
	const client = await startServe(t, at);
	const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
	await client.close(codexId);
	const {code, stderr} = await runBridge(['summary', codexId], '', {cwd: at.repo, env: at.env});
	t.is(code, 1);
	t.regex(stderr, /has no summary\. No summary is written if codex_close ends an idle session/);
	t.is((await client.codex({prompt: 'say:2', codex_id: codexId})).structured.content, '2');
});

test('suggests no team when none exists [S-D19] [U-P1-18]', async t => {
	const at = await place(t, 'app-server');
	const teams = join(at.base, '.claude', 'teams');
	const {code, stderr} = await runBridge(['mail', '--team', 'crew'], '', {cwd: at.repo, env: at.env});
	t.is(code, 2);
	t.true(
		stderr.includes(
			`There is no team crew in ${teams}. That folder has no teams. Create the team in Claude Code first.`,
		),
		stderr,
	);
});
