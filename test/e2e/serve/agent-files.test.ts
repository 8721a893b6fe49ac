import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import test from 'ava';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {place, startServe} from './support.js';

function put(path: string, text = 'TOP-SECRET'): string {
	mkdirSync(dirname(path), {recursive: true});
	writeFileSync(path, text);
	return path;
}

for (const kind of fakeKinds)
	test(`${kind}: rejects an agent_file that is a credential file or outside the repository [SEC-D17]`, async t => {
		const at = await place(t, kind);
		const home = join(dirname(at.repo), 'me');
		const env = {...at.env, HOME: home};
		const secrets = ['.codex/auth.json', '.claude/.credentials.json', '.claude/history.jsonl', '.ssh/id_rsa'];
		for (const name of secrets) put(join(home, name));
		for (const name of ['.env', 'keys/tls.pem', '.npmrc']) put(join(at.repo, name));
		put(join(at.repo, '.git/config'), '[remote "origin"]\n\turl = https://me:TOP-SECRET@example.com/x.git\n');
		symlinkSync(join(home, '.codex/auth.json'), join(at.repo, 'agent.md'));
		symlinkSync('.env', join(at.repo, 'other.md'));
		put(join(home, '.claude/agents/mine.md'), 'say:MINE');
		put(join(home, 'notes.md'), 'say:NOTES');
		const client = await startServe(t, {...at, env});
		const rejected = [
			...secrets.map(name => ({agent_file: join(home, name)})),
			...['.env', 'keys/tls.pem', '.npmrc', '.git/config', 'agent.md', 'other.md'].map(name => ({
				agent_file: name,
			})),
			{agent_file: '.env', agent_file_as: 'base-instructions', prompt: 'say:X'},
			...['.ssh', '.', '..'].map(folder => ({
				cwd: join(home, folder),
				agent_file: join(home, '.ssh/id_rsa'),
			})),
			{cwd: home, agent_file: 'notes.md'},
			{cwd: dirname(home), agent_file: join(home, 'notes.md')},
			...['model_instructions_file', 'profiles.x.experimental_instructions_file'].map(key => ({
				prompt: 'say:X',
				config: {[key]: '~/.codex/auth.json'},
			})),
			{prompt: 'say:X', config: {profiles: {x: {experimental_compact_prompt_file: '.env'}}}},
			{prompt: 'say:X', config: {project_doc_fallback_filenames: ['CLAUDE.md', '.env']}},
		];
		for (const args of rejected) {
			const result = await client.codex({identity: 'a', ...args});
			t.is(result.error.code, -32008, `${JSON.stringify(args)}: ${result.text}`);
			t.false(result.text.includes('TOP-SECRET'));
			t.regex(result.text, /must not become part of a prompt|is outside the folders/);
		}
		t.like(await client.status(), {active_thread_count: 0});
		const own = await client.codex({identity: 'b', agent_file: join(home, '.claude/agents/mine.md')});
		t.is(own.structured.content, 'MINE', own.text);
		const config = {model_instructions_file: put(join(at.repo, 'base.md'), 'x')};
		t.false((await client.codex({identity: 'c', prompt: 'say:X', config})).isError);
	});

test('accepts agent files in trusted_directories and rejects credential files as prompt files of the configuration [SEC-D17]', async t => {
	const at = await place(t, 'mcp-server');
	const shared = join(dirname(at.repo), 'shared');
	put(join(shared, 'agent.md'), 'say:SHARED');
	put(
		join(at.base, '.config/atm/config.toml'),
		`[plugins.codex-mcp]\ntrusted_directories = [${JSON.stringify(shared)}]`,
	);
	const client = await startServe(t, at);
	const made = await client.codex({identity: 'a', agent_file: join(shared, 'agent.md')});
	t.is(made.structured.content, 'SHARED', made.text);
	put(join(at.repo, '.env'));
	at.configure('[plugins.codex-mcp]\nextra_instructions_file = ".env"\n');
	const next = await startServe(t, at);
	const rejected = await next.codex({identity: 'b', prompt: 'say:X'});
	t.is(rejected.error.code, -32008, rejected.text);
	t.regex(rejected.text, /extra_instructions_file .*\.env is a credential file/);
});

for (const kind of fakeKinds)
	test(`${kind}: rejects a credential file in the first call after --resume [SEC-D17]`, async t => {
		const at = await place(t, kind);
		put(join(at.repo, '.env'));
		const first = await startServe(t, at);
		t.false((await first.codex({identity: 'a', prompt: 'say:X'})).isError);
		first.running.stdin.end();
		await first.running.exited;
		const next = await startServe(t, at, '--identity', 'a', '--resume');
		const rejected = await next.codex({prompt: 'say:X', config: {model_instructions_file: '.env'}});
		t.is(rejected.error.code, -32008, rejected.text);
		t.like(await next.status(), {active_thread_count: 0});
	});
