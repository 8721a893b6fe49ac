import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {BridgeError} from '../../../lib/core/errors.js';
import {createFixture} from './support.js';

test('keeps unknown restrictions with a warning, but rejects them in a flag or an explicit file [S-D12]', async t => {
	const {load, writeUserFile, repo} = createFixture(t);
	const toml =
		'[plugins.codex-mcp]\napproval_policy = "on-failure"\n[plugins.codex-mcp.roles.a]\nsandbox = "bogus"\n';
	writeUserFile(toml);
	const env = {ATM_AGENT_MCP_SANDBOX: 'none'};
	const {warnings, config} = await load({}, env);
	t.like(config, {approvalPolicy: 'on-failure', sandbox: 'none'});
	t.is(config.namedRoles.get('a')?.sandbox, 'bogus');
	const sandboxes =
		'Expected one of read-only, workspace-write, danger-full-access. Calls that use this value fail.';
	const policies = 'Expected one of untrusted, on-request, never. Calls that use this value fail.';
	t.deepEqual(
		warnings.map(each => each.replace(/^\S+config\.toml/, 'FILE')),
		[
			`$ATM_AGENT_MCP_SANDBOX: ${sandboxes}`,
			`FILE: [plugins.codex-mcp].approval_policy: ${policies}`,
			`FILE: [plugins.codex-mcp.roles.a].sandbox: ${sandboxes}`,
		],
	);
	writeUserFile('');
	const file = join(repo, 'named.toml');
	writeFileSync(file, toml);
	await t.throwsAsync(load({config: file}), {message: /has 2 mistakes/});
	for (const flags of [{sandbox: 'bogus'}, {approvalPolicy: 'on-failure'}])
		await t.throwsAsync(load(flags), {instanceOf: BridgeError, message: /^--\S+ \S+ is not valid\.$/});
});

test('rejects an unknown role in a flag, and warns about it elsewhere [S-D12]', async t => {
	const {load, writeUserFile} = createFixture(t);
	writeUserFile('[plugins.codex-mcp]\nrole = "b"\n[plugins.codex-mcp.roles.a]\nmodel = "m"');
	const {warnings} = await load({});
	t.regex(
		warnings.join('\n'),
		/\.role: b is not a role\. The configured roles are a\. Calls without a role fail\.$/,
	);
	await t.throwsAsync(load({role: 'c'}), {
		instanceOf: BridgeError,
		message: '--role c is not a role. The configured roles are a.',
	});
});
