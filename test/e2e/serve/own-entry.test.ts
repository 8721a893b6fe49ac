import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {stringify} from 'smol-toml';
import {objectOf} from '../../../lib/util/json.js';
import {bridgeBin} from '../../helpers/bridge.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {argumentsIn, place, startServe} from './support.js';

type Entries = {readonly [name: string]: {readonly command: string; readonly args?: readonly string[]}};

const configOf = (servers: Entries): string => stringify({model: 'm', mcp_servers: servers});

for (const kind of fakeKinds)
	test(`${kind}: sessions do not start the MCP servers of Codex that are bridge serve [S-D18]`, async t => {
		const at = await place(t, kind);
		const home = join(at.base, 'codex');
		const link = join(at.base, 'renamed');
		mkdirSync(home);
		symlinkSync(bridgeBin, link);
		const own: Entries = {
			bridge: {command: 'bridge', args: ['serve']},
			'any-name': {command: process.execPath, args: [bridgeBin, 'serve', '--identity', 'arch']},
			npx: {command: 'npx', args: ['-y', 'bridge@latest', 'serve']},
			exec: {command: 'npm', args: ['exec', 'bridge', '--', 'serve']},
			link: {command: link, args: ['--config', 'x.toml', 'serve']},
			shell: {command: 'sh', args: ['-c', 'cd /x && exec bridge serve']},
			wrapped: {command: 'bridge', args: ['--', 'node', bridgeBin, 'serve']},
			windows: {command: 'C:\\tools\\bridge.cmd', args: ['serve']},
		};
		const others: Entries = {
			hub: {command: 'bridge', args: ['hub']},
			files: {command: 'npx', args: ['-y', 'server', 'serve']},
			server: {command: 'bridge', args: ['--', 'my-server', 'serve']},
			network: {command: 'docker', args: ['run', '--network', 'bridge', 'acme/mcp', 'serve']},
			folder: {command: 'uv', args: ['--directory', '/home/me/bridge', 'run', 'mcp', 'serve']},
			inside: {command: 'sh', args: ['-c', 'cd /srv/bridge && ./mcp serve']},
			scoped: {command: 'npx', args: ['-y', '@acme/bridge', 'serve']},
			named: {command: 'bridge', args: ['--name', 'serve', '--', 'my-server']},
			mine: {command: 'my-guard', args: []},
		};
		writeFileSync(join(home, 'config.toml'), configOf({...own, ...others}));
		mkdirSync(join(at.repo, '.codex'));
		writeFileSync(
			join(at.repo, '.codex/config.toml'),
			configOf({
				project: {command: 'bridge', args: ['serve']},
				mine: {command: 'bridge', args: ['serve']},
				long: {command: 'sh', args: ['-c', `${'a '.repeat(1_000_000)}serve`]},
			}),
		);
		const client = await startServe(t, {...at, env: {...at.env, CODEX_HOME: home}});
		const config = {'mcp_servers.npx': {command: 'mine'}, model_verbosity: 'low'};
		const received = objectOf(argumentsIn(await client.codex({prompt: 'show:arguments', config})).config);
		const {npx: _, ...disabled} = own;
		t.deepEqual(received, {
			...config,
			...Object.fromEntries(
				Object.entries({...disabled, project: {command: 'bridge'}}).map(([name, {command}]) => [
					`mcp_servers.${name}`,
					{command, enabled: false},
				]),
			),
		});
		const nested = {mcp_servers: {more: {command: 'more'}}};
		const second = await client.codex({prompt: 'show:arguments', identity: 'second', config: nested});
		const servers = objectOf(objectOf(argumentsIn(second).config).mcp_servers);
		t.deepEqual(Object.keys(servers), ['more', ...Object.keys(own), 'project']);
	});

test('starts a session despite a malformed Codex configuration [S-D18]', async t => {
	const at = await place(t, 'app-server');
	const home = join(at.base, 'codex');
	mkdirSync(home);
	writeFileSync(join(home, 'config.toml'), '[mcp_servers\n');
	const client = await startServe(t, {...at, env: {...at.env, CODEX_HOME: home}});
	t.is(argumentsIn(await client.codex({prompt: 'show:arguments'})).config, undefined);
});
