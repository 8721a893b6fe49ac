import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {codexKinds} from './codex-clients.js';
import {replyWith} from './scripted-model.js';
import {type ServePlace, shareServe} from './serve-client.js';

/*
 * Section 9, both real Codex programs: Identity, Context Injection, Session Initialization; FR-2, FR-3,
 * FR-12, FR-16. The requests of Codex to its model show its settings.
 */

const repositoryConfig = `[plugins.codex-mcp]
codex_bin = "/nowhere/codex"
default_identity = "nobody"
model = "model-of-file"
reasoning_effort = "high"

[plugins.codex-mcp.roles.careful]
model = "model-of-careful"

[plugins.codex-mcp.roles.writer]
sandbox = "workspace-write"
approval_policy = "on-request"
reasoning_effort = "low"
`;

/** Uses each layer of the configuration: the user's file, the repository's, variables, and flags. */
function configure(at: ServePlace): {args: string[]} {
	at.configure(repositoryConfig);
	mkdirSync(join(at.base, '.config/atm'), {recursive: true});
	writeFileSync(
		join(at.base, '.config/atm/config.toml'),
		'[plugins.codex-mcp]\nmodel = "model-of-user"\nmax_concurrent_threads = 4\n',
	);
	mkdirSync(join(at.repo, '.claude/agents'), {recursive: true});
	writeFileSync(
		join(at.repo, '.claude/agents/rust-dev.md'),
		`---\nname: rust-dev\n---\nYou write Rust.\n${replyWith('FERRIS')}\n`,
	);
	mkdirSync(join(at.repo, 'sub'));
	return {args: ['--identity', 'lead', '--role', 'careful']};
}

const serving = shareServe(codexKinds, configure);

/** Whether a text contains these parts in this order. */
const inOrder = (text: string, ...parts: string[]): boolean =>
	parts.reduce((from, part) => (from < 0 ? from : text.indexOf(part, from)), 0) >= 0;

for (const kind of codexKinds) {
	test.serial(
		`${kind}: rejects an identity in use, naming its session, and frees it on close for a clean session [FR-2.5] [FR-2.8] [FR-3.1] [FR-3.4] [FR-17.8]`,
		async t => {
			const {client, at} = serving(kind);
			const [one, two] = await Promise.all(
				['arch-ctm', 'dev-1'].map(identity =>
					client.codex({prompt: replyWith(`I am ${identity}`), identity}),
				),
			);
			t.is(one?.structured.content, 'I am arch-ctm', one?.text);
			t.regex(at.model.requestWith('I am arch-ctm').developer, /^Identity: arch-ctm$/m);
			t.regex(at.model.requestWith('I am dev-1').developer, /^Identity: dev-1$/m);
			t.like(await client.status(), {
				active_thread_count: 2,
				identity_map: {'arch-ctm': {codex_id: one?.codexId}, 'dev-1': {codex_id: two?.codexId}},
			});
			const refused = await client.codex({prompt: replyWith('NEVER'), identity: 'arch-ctm'});
			t.true(refused.isError);
			t.like(refused.error, {code: -32001, codex_id: one?.codexId});
			t.true(refused.text.includes(String(one?.codexId)), refused.text);
			const reply = await client.reply(two?.codexId, replyWith('STILL'));
			t.like(reply.structured, {content: 'STILL', identity: 'dev-1'});
			t.regex(at.model.requestWith('STILL').developer, /^Identity: dev-1$/m);
			t.like((await client.close(one?.codexId)).structured, {closed: true, status: 'closed'});
			const again = await client.codex({prompt: replyWith('ANEW'), identity: 'arch-ctm'});
			t.is(again.structured.content, 'ANEW', again.text);
			t.not(again.codexId, one?.codexId);
			t.not(again.structured.threadId, one?.structured.threadId);
			t.false(at.model.requestWith('ANEW').users.join().includes('I am arch-ctm'));
			t.like(await client.thread(one?.codexId), {status: 'closed'});
		},
	);

	test.serial(
		`${kind}: uses the default identity, and enforces max_concurrent_threads [FR-3.3] [FR-12.3] [FR-13.2]`,
		async t => {
			const {client} = serving(kind);
			const first = await client.codex({prompt: replyWith('1')});
			t.is(first.structured.identity, 'lead', 'the flag overrides the file of the repository');
			await Promise.all(['b', 'c', 'd'].map(identity => client.codex({prompt: replyWith('1'), identity})));
			const fifth = await client.codex({prompt: replyWith('1'), identity: 'e'});
			t.like(fifth.error, {code: -32004, max: 4}, 'the limit in the file of the user');
			await client.close(first.codexId);
			t.false((await client.codex({prompt: replyWith('1'), identity: 'e'})).isError);
		},
	);

	test.serial(
		`${kind}: injects identity, team, repo and branch, and reports a changed branch with the next reply [FR-2.1] [FR-2.6]`,
		async t => {
			const {client, at} = serving(kind);
			at.git('checkout', '-q', 'main');
			const {codexId} = await client.codex({prompt: replyWith('MAIN'), identity: 'a'});
			const first = at.model.requestWith('MAIN').developer;
			const lines = [
				'<session-context>',
				'Identity: a',
				'Team: default',
				`Repo: widgets (${at.repo})`,
				'Branch: main',
				`CWD: ${at.repo}`,
				'</session-context>',
			];
			t.true(first.includes(lines.join('\n')), first);
			at.git('checkout', '-q', '-B', 'feature/x');
			await client.codex({prompt: replyWith('FEATURE'), identity: 'b'});
			t.regex(at.model.requestWith('FEATURE').developer, /^Branch: feature\/x$/m);
			await client.reply(codexId, replyWith('MOVED'));
			t.regex(at.model.requestWith('MOVED').users.at(-1) ?? '', /Branch is now feature\/x/);
			t.like(await client.thread(codexId), {branch: 'feature/x'});
		},
	);

	test.serial(
		`${kind}: appends the context to the client's developer-instructions, and leaves base-instructions unchanged [FR-2.2] [FR-2.3] [FR-2.4] [FR-2.7]`,
		async t => {
			const {client, at} = serving(kind);
			const cwd = join(at.repo, 'sub');
			const {codexId} = await client.codex({
				prompt: replyWith('BOTH'),
				identity: 'a',
				cwd: 'sub',
				'developer-instructions': 'MINE-FIRST',
				'base-instructions': 'BASE-ALONE',
			});
			const {developer, base, users} = at.model.requestWith('BOTH');
			t.true(inOrder(developer, 'MINE-FIRST\n\n<session-context>', 'Identity: a'), developer);
			t.is(base, 'BASE-ALONE');
			t.true(users.join('\n').includes(`<cwd>${cwd}</cwd>`), 'the working directory of Codex');
			t.like(await client.thread(codexId), {cwd, repo_root: at.repo, repo_name: 'widgets'});
			t.is(at.registry().find(({codex_id: id}) => id === codexId)?.cwd, cwd);
			await client.codex({prompt: replyWith('ROOT'), identity: 'b'});
			const root = at.model.requestWith('ROOT');
			t.true(root.users.join('\n').includes(`<cwd>${at.repo}</cwd>`), 'default: the root of the repository');
			t.not(root.base, 'BASE-ALONE');
		},
	);

	test.serial(
		`${kind}: starts from agent_file or prompt, and rejects a missing file, both and neither [FR-16.1] [FR-16.2] [FR-16.5] [FR-16.6]`,
		async t => {
			const {client, at} = serving(kind);
			const agentFile = '.claude/agents/rust-dev.md';
			const made = await client.codex({agent_file: agentFile, identity: 'a'});
			t.is(made.structured.content, 'FERRIS', made.text);
			t.is(at.model.requestWith('FERRIS').users.at(-1), `You write Rust.\n${replyWith('FERRIS')}\n`);
			const inline = await client.codex({prompt: replyWith('INLINE'), identity: 'b'});
			t.is(inline.structured.content, 'INLINE');
			t.is(at.model.requestWith('INLINE').users.at(-1), replyWith('INLINE'));
			const before = at.model.requestCount();
			const missing = await client.codex({agent_file: 'no/such.md', identity: 'c'});
			t.like(missing.error, {code: -32008, path: join(at.repo, 'no/such.md')});
			t.true(missing.text.includes(join(at.repo, 'no/such.md')));
			const both = await client.codex({agent_file: agentFile, prompt: 'x', identity: 'c'});
			t.like(both.error, {code: -32007});
			t.regex(both.text, /agent_file and prompt are mutually exclusive/);
			t.like((await client.codex({identity: 'c'})).error, {code: -32007});
			t.is(at.model.requestCount(), before, 'no call reached Codex');
			t.like(await client.status(), {active_thread_count: 2});
		},
	);

	test.serial(
		`${kind}: settings of a call override those of its role, and these the files [FR-12.1] [FR-12.2] [FR-12.3]`,
		async t => {
			const {client, at} = serving(kind);
			const settingsWith = async (args: object) => {
				const word = `ROLE-${JSON.stringify(args)}`;
				const {text, isError} = await client.codex({prompt: replyWith(word), identity: 'a', ...args});
				t.false(isError, text);
				await client.call('codex_close', {identity: 'a'});
				return at.model.requestWith(word);
			};
			t.like(await settingsWith({}), {model: 'model-of-careful', effort: 'high'}, '--role');
			const writer = await settingsWith({role: 'writer'});
			t.like(
				writer,
				{model: 'model-of-file', effort: 'low'},
				'the file of the repository overrides the file of the user',
			);
			t.regex(writer.developer, /`sandbox_mode` is `workspace-write`/);
			t.notRegex(writer.developer, /Approval policy is currently never/);
			t.is((await settingsWith({role: 'writer', model: 'model-of-call'})).model, 'model-of-call');
			const unknown = await client.codex({prompt: 'x', identity: 'a', role: 'nobody'});
			t.like(unknown.error, {code: -32007});
			t.regex(unknown.text, /careful, writer/);
		},
	);

	test.serial(
		`${kind}: leaves no session and no identity when Codex rejects a call before its thread starts (3.10)`,
		async t => {
			const {client} = serving(kind);
			const failed = await client.codex({prompt: 'x', identity: 'a', 'no-such-argument': 1});
			t.true(failed.isError, failed.text);
			t.like(await client.status(), {active_thread_count: 0, identity_map: {}});
			const made = await client.codex({
				prompt: replyWith('OK'),
				identity: 'a',
				tag: 'label',
				role: 'careful',
				auto_mail: false,
			});
			t.is(made.structured.content, 'OK', "bridge's own arguments are not sent to Codex (3.10)");
		},
	);
}
