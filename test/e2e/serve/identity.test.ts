import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {argumentsIn, place, startServe} from './support.js';

const instructions = (args: object): string => {
	const {developerInstructions, 'developer-instructions': ofMcpServer} = objectOf(args);
	return String(developerInstructions ?? ofMcpServer);
};

for (const kind of fakeKinds) {
	test(`${kind}: runs two identities at once and rejects a duplicate with the codex_id of its owner [FR-2.5] [FR-3.1] [FR-3.4] [FR-17.8] [FR-2.8] [FR-10.2]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const [one, two] = await Promise.all([
			client.codex({prompt: 'show:arguments', identity: 'arch-ctm'}),
			client.codex({prompt: 'say:TWO', identity: 'dev-1'}),
		]);
		t.regex(instructions(argumentsIn(one)), /Identity: arch-ctm\n/);
		t.like(await client.status(), {
			active_thread_count: 2,
			identity_map: {'arch-ctm': {codex_id: one.codexId}, 'dev-1': {codex_id: two.codexId}},
		});
		for (const identity of ['arch-ctm', 'ARCH-CTM']) {
			const rejected = await client.codex({prompt: 'x', identity});
			t.true(rejected.isError);
			t.like(rejected.error, {code: -32001, kind: 'identity_conflict', codex_id: one.codexId});
			t.true(rejected.text.includes(one.codexId), 'models read only the text');
		}
		t.like((await client.close(one.codexId)).structured, {closed: true, status: 'closed'});
		const again = await client.codex({prompt: 'show:prompts', identity: 'arch-ctm'});
		t.not(again.codexId, one.codexId);
		t.is(again.structured.content, '["show:prompts"]', 'a new session has an empty context');
		t.is(
			(await client.reply(two.codexId, 'say:2')).structured.identity,
			'dev-1',
			'codex-reply uses the bound identity',
		);
	});

	test(`${kind}: one of a hundred concurrent calls for an identity wins, and the errors of the others name it [H5]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const all = await Promise.all(
			Array.from({length: 100}, () => client.codex({prompt: 'say:X', identity: 'wanted'})),
		);
		const [winner, ...rest] = all.filter(({isError}) => !isError);
		t.is(rest.length, 0);
		t.true(all.filter(({isError}) => isError).every(({error}) => error.codex_id === winner?.codexId));
	});

	test(`${kind}: uses the default identity and enforces max_concurrent_threads [FR-3.3] [FR-12.1]`, async t => {
		const at = await place(t, kind);
		at.configure('[plugins.codex-mcp]\nidentity = "lead"\nmax_concurrent_threads = 2\n');
		const client = await startServe(t, at);
		const first = await client.codex({prompt: 'say:1'});
		t.is(first.structured.identity, 'lead');
		await client.codex({prompt: 'say:2', identity: 'b'});
		const third = await client.codex({prompt: 'say:3', identity: 'c'});
		t.like(third.error, {code: -32004, kind: 'max_sessions', max: 2});
		t.regex(third.text, /lead.*codex:/s);
		await client.close(first.codexId);
		t.false((await client.codex({prompt: 'say:3', identity: 'c'})).isError);
	});

	test(`${kind}: releases the identity of a call that fails before its thread exists`, async t => {
		const client = await startServe(t, await place(t, kind));
		const failed = await client.codex({prompt: 'x', identity: 'a', 'no-such-argument': 1});
		t.true(failed.isError, failed.text);
		t.like(await client.status(), {active_thread_count: 0});
		t.deepEqual(await client.threads(), []);
		t.false((await client.codex({prompt: 'say:OK', identity: 'a'})).isError);
	});

	test(`${kind}: adds identity, team, repository and current branch to developer-instructions [FR-2.1] [FR-2.6]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const one = instructions(argumentsIn(await client.codex({prompt: 'show:arguments', identity: 'a'})));
		t.true(one.includes(`Repo: widgets (${at.repo})`), one);
		t.true(
			one.includes('Team: default') && one.includes('Branch: main') && one.includes(`CWD: ${at.repo}`),
			one,
		);
		at.git('checkout', '-q', '-b', 'feature/x');
		const two = instructions(argumentsIn(await client.codex({prompt: 'show:arguments', identity: 'b'})));
		t.true(two.includes('Branch: feature/x'), two);
	});

	test(`${kind}: codex-reply notifies the session of a branch change once`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
		at.git('checkout', '-q', '-b', 'other');
		await client.reply(codexId, 'say:2');
		const prompts = JSON.parse(
			String((await client.reply(codexId, 'show:prompts')).structured.content),
		) as string[];
		t.regex(prompts[1] ?? '', /Branch is now other/);
		t.is(prompts[2], 'show:prompts');
		t.like((await client.threads())[0], {branch: 'other'});
	});

	test(`${kind}: appends to the caller's developer-instructions and preserves base-instructions [FR-2.2] [FR-2.3] [FR-2.4]`, async t => {
		const at = await place(t, kind);
		mkdirSync(join(at.repo, 'sub'));
		const client = await startServe(t, at);
		const received = argumentsIn(
			await client.codex({
				prompt: 'show:arguments',
				cwd: 'sub',
				'developer-instructions': 'MINE',
				'base-instructions': 'BASE',
			}),
		);
		t.regex(instructions(received), /^MINE\n\n<session-context>/);
		t.is(received.baseInstructions ?? received['base-instructions'], 'BASE');
		t.is(received.cwd, join(at.repo, 'sub'));
		t.like((await client.threads())[0], {
			cwd: join(at.repo, 'sub'),
			repo_root: at.repo,
			repo_name: 'widgets',
			branch: 'main',
		});
	});

	test(`${kind}: uses agent_file as the prompt and rejects a missing file, both arguments and neither [FR-16.1] [FR-16.5] [FR-16.6] [H2] [H3]`, async t => {
		const at = await place(t, kind);
		mkdirSync(join(at.repo, '.claude/agents'), {recursive: true});
		writeFileSync(
			join(at.repo, '.claude/agents/rust-dev.md'),
			'---\nname: rust-dev\n---\nYou write Rust.\nshow:prompts\n',
		);
		const client = await startServe(t, at);
		const made = await client.codex({agent_file: '.claude/agents/rust-dev.md', identity: 'a'});
		t.deepEqual(JSON.parse(String(made.structured.content)), ['You write Rust.\nshow:prompts\n']);
		const missing = await client.codex({agent_file: 'no/such.md', identity: 'b'});
		t.like(missing.error, {code: -32008, path: join(at.repo, 'no/such.md')});
		t.true(missing.text.includes(join(at.repo, 'no/such.md')));
		const wrong: Array<[object, number]> = [
			[{agent_file: '.claude/agents/rust-dev.md', prompt: 'x'}, -32007],
			[{}, -32007],
			[{agent_file: '/etc/passwd'}, -32008],
			[{agent_file: '.claude'}, -32008],
			[{prompt: 1}, -32007],
			[{prompt: 'x', cwd: 'no/such'}, -32007],
			[{prompt: 'x', cwd: '.claude/agents/rust-dev.md'}, -32007],
			[{prompt: 'x', role: 'unknown'}, -32007],
			...['..', 'a/b', '.', 'CON', 'a'.repeat(300), 'x y', 'a\u202eb'].map((identity): [object, number] => [
				{prompt: 'x', identity},
				-32007,
			]),
		];
		for (const [args, code] of wrong) {
			const rejected = await client.codex({identity: 'c', ...args});
			t.is(rejected.error.code, code, `${JSON.stringify(args)}: ${rejected.text}`);
		}
		t.like(await client.status(), {active_thread_count: 1});
	});

	test(`${kind}: settings of a call override those of its role, which override the configuration [FR-12.2]`, async t => {
		const at = await place(t, kind);
		at.configure(
			'[plugins.codex-mcp]\nmodel = "m0"\nsandbox = "read-only"\n[plugins.codex-mcp.roles.fast]\nmodel = "m1"\napproval_policy = "never"\n',
		);
		const client = await startServe(t, at);
		const plain = argumentsIn(await client.codex({prompt: 'show:arguments', identity: 'a'}));
		t.like(plain, {model: 'm0', sandbox: 'read-only'});
		t.is(plain.approvalPolicy ?? plain['approval-policy'], undefined);
		const role = argumentsIn(await client.codex({prompt: 'show:arguments', identity: 'b', role: 'fast'}));
		t.like(role, {model: 'm1', sandbox: 'read-only'});
		t.is(role.approvalPolicy ?? role['approval-policy'], 'never');
		const own = argumentsIn(
			await client.codex({prompt: 'show:arguments', identity: 'c', role: 'fast', model: 'm2'}),
		);
		t.is(own.model, 'm2');
	});
}
