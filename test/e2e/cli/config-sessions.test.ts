import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {newHome} from './home.js';

test('config prints the session settings, each with its origin [FR-13.4]', async t => {
	const {run, put, cwd, env} = newHome(t, {ATM_TEAM: 'red'});
	const own = put(
		'.config/atm/config.toml',
		'[plugins.codex-mcp]\nmodel = "big"\nsandbox = "danger-full-access"\n[plugins.codex-mcp.roles.deep]\nreasoning_effort = "high"',
	);
	mkdirSync(join(cwd, '.git'));
	writeFileSync(join(cwd, '.atm.toml'), '[plugins.atm-agent-mcp]\nsandbox = "workspace-write"');
	const {code, out, stderr} = await run('config', '--identity', 'arch');
	t.is(code, 0, stderr);
	t.is(stderr, '');
	t.regex(out, /^team: red +# \$ATM_TEAM$/m);
	t.regex(out, /^identity: arch +# --identity$/m);
	t.regex(out, new RegExp(`^model: big +# ${own} \\[plugins\\.codex-mcp\\]\\.model$`, 'm'));
	t.regex(out, /^sandbox: workspace-write +# .*\.atm\.toml \[plugins\.atm-agent-mcp\]\.sandbox$/m);
	t.regex(out, /^roles:\n {2}deep:\n {4}reasoning_effort: high +# /m);
	t.regex(out, /^listen: 127\.0\.0\.1:7411 +# default$/m);
	const {serve, bridge} = JSON.parse((await run('config', '--json', '--identity', 'arch')).out);
	t.deepEqual(serve.values.team, {value: 'red', from: '$ATM_TEAM'});
	t.deepEqual(serve.values['roles.deep.reasoning_effort'].value, 'high');
	t.is(serve.files.length, 2);
	t.like(bridge, {file: null, values: {listen: '127.0.0.1:7411'}});
	t.truthy(env);
});

test('config warns about settings that a cloned repository may not set, and --trust allows them [K1] [FR-12.3]', async t => {
	const {run, cwd} = newHome(t);
	mkdirSync(join(cwd, '.git'));
	writeFileSync(join(cwd, '.atm.toml'), '[plugins.codex-mcp]\ncodex_bin = "./evil"');
	const careful = await run('config');
	t.regex(
		careful.stderr,
		/\.atm\.toml: \[plugins\.codex-mcp\]\.codex_bin is ignored: it names a program to run\. If you trust .*, use --trust/,
	);
	t.regex(careful.out, /^codex_bin: codex +# default$/m);
	const trusting = await run('config', '--trust');
	t.is(trusting.stderr, '');
	t.regex(trusting.out, /^codex_bin: .*\/work\/evil +# .*\.atm\.toml/m);
});

test('config --config prints a session file, and --check rejects an invalid one with exit code 2', async t => {
	const {run, cwd} = newHome(t);
	writeFileSync(join(cwd, 'my.toml'), '[core]\ndefault_team = "blue"');
	const {out, code} = await run('config', '--config', 'my.toml');
	t.is(code, 0);
	t.regex(out, /^team: blue +# .*my\.toml \[core\]\.default_team$/m);
	t.notRegex(out, /listen/);
	writeFileSync(join(cwd, 'my.toml'), '[plugins.codex-mcp]\nmodle = "x"');
	const wrong = await run('config', '--check', 'my.toml');
	t.is(wrong.code, 2);
	t.is(wrong.out, '');
	t.regex(
		wrong.stderr,
		/my\.toml: \[plugins\.codex-mcp\]\.modle: This key is not known\. Did you mean model\?/,
	);
});

test('config hides possible secrets in session settings [K4]', async t => {
	const {run} = newHome(t, {
		ATM_AGENT_MCP_MODEL: 'api_key=hunter2hunter2',
		ATM_AGENT_MCP_REASONING_EFFORT: 'sk-abcdefghijklmnop1234',
	});
	for (const args of [['config'], ['config', '--json']]) {
		const {out, stderr} = await run(...args);
		t.false(`${out}${stderr}`.includes('hunter2'));
		t.false(`${out}${stderr}`.includes('sk-abc'));
	}
});
