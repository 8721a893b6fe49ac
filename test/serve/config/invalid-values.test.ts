import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {BridgeError} from '../../../lib/core/errors.js';
import {newPlace} from './support.js';

test('restrictions that Codex does not know are kept, with a warning; a flag or a named file is an error [S-D12]', async t => {
	const {load, own, repo} = newPlace(t);
	const toml =
		'[plugins.codex-mcp]\napproval_policy = "on-failure"\n[plugins.codex-mcp.roles.a]\nsandbox = "bogus"\n';
	own(toml);
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
	own('');
	const file = join(repo, 'named.toml');
	writeFileSync(file, toml);
	await t.throwsAsync(load({config: file}), {message: /has 2 mistakes/});
	for (const flags of [{sandbox: 'bogus'}, {approvalPolicy: 'on-failure'}])
		await t.throwsAsync(load(flags), {instanceOf: BridgeError, message: /^--\S+ \S+ is not valid\.$/});
});

test('a role that does not exist is an error in a flag, and a warning elsewhere [S-D12]', async t => {
	const {load, own} = newPlace(t);
	own('[plugins.codex-mcp]\nrole = "b"\n[plugins.codex-mcp.roles.a]\nmodel = "m"');
	const {warnings} = await load({});
	t.regex(
		warnings.join('\n'),
		/\.role: b is not a role\. The configured roles are a\. Calls that name no role fail\.$/,
	);
	await t.throwsAsync(load({role: 'c'}), {
		instanceOf: BridgeError,
		message: '--role c is not a role. The configured roles are a.',
	});
});
