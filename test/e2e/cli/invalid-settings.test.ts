import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {fakeCodex} from '../../helpers/fake-codex.js';
import {tempFolder} from '../../helpers/temp-folder.js';

for (const [args, message] of [
	[
		['--sandbox', 'bogus'],
		'--sandbox bogus is not valid. It has to be one of read-only, workspace-write, danger-full-access.',
	],
	[
		['--approval-policy', 'on-failure'],
		'--approval-policy on-failure is not valid. It has to be one of untrusted, on-request, never.',
	],
	[
		['--role', 'nope'],
		'--role nope is not a role. No role is configured. Add [plugins.codex-mcp.roles.NAME] to .atm.toml, or choose another role.',
	],
	[['--model', 'a', '--fast'], '--model and --fast exclude each other. Use one of them.'],
] as const)
	test(`serve ${args.join(' ')} exits with 2 and lists the allowed values [S-D12]`, async t => {
		const home = tempFolder(t);
		const env = {...process.env, ATM_HOME: home};
		const {code, stderr, stdout} = await runBridge(['serve', ...args], '', {cwd: home, env});
		t.is(code, 2);
		t.deepEqual(stdout, []);
		t.true(stderr.includes(message), stderr);
	});

const invalid = '[plugins.codex-mcp]\nrole = "nope"\n[plugins.codex-mcp.roles.r]\nsandbox = "bogus"\n';

for (const command of ['serve', 'config', 'doctor'])
	test(`${command} reports an unknown sandbox mode with file, key and allowed values [S-D12]`, async t => {
		const home = tempFolder(t);
		const folder = join(home, '.config', 'atm');
		mkdirSync(folder, {recursive: true});
		const file = join(folder, 'config.toml');
		writeFileSync(file, invalid);
		const {command: codex} = await fakeCodex(t, 'app-server');
		const env = {...process.env, ATM_HOME: home, ATM_AGENT_MCP_CODEX_BIN: codex};
		const {stderr, stdout} = await runBridge([command], '', {cwd: home, env});
		const text = `${stdout.join('\n')}${stderr}`.replaceAll('\\"', '"');
		t.true(
			text.includes(
				`${file}: [plugins.codex-mcp.roles.r].sandbox: Expected one of read-only, workspace-write, danger-full-access.`,
			),
			text,
		);
		t.true(text.includes('nope is not a role. The configured roles are r.'), text);
		t.false(text.includes('No problems found'), text);
	});
