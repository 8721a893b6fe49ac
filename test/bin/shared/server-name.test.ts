import test from 'ava';
import {serverName} from '../../../bin/shared/server-name.js';

for (const [line, name] of [
	['npx -y @modelcontextprotocol/server-files .', 'server-files'],
	['npx -y @scope/server-files@1.2.3 .', 'server-files'],
	['npx some-server@latest', 'some-server'],
	['npm exec some-server', 'some-server'],
	['node dist/server.js --port 5', 'server'],
	['/usr/bin/node --enable-source-maps ./build/index.mjs', 'index'],
	['python3.12 server.py', 'server'],
	['uv run server.py', 'server'],
	['uvx mcp-server-git', 'mcp-server-git'],
	['pnpm dlx some-server', 'some-server'],
	['tsx src/main.ts', 'main'],
	['deno run -A main.ts', 'main'],
	['/opt/bin/my-server --flag', 'my-server'],
	['codex mcp-server', 'codex'],
	['docker run --rm image', 'docker'],
	['server.exe', 'server'],
	['npx.cmd some-server', 'some-server'],
	['node', 'node'],
	['npx -y', 'npx'],
	['.js', '.js'],
] as const)
	test(`derives ${name} from ${line}`, t => {
		t.is(serverName(line.split(' ')), name);
	});

test('returns an empty name for an empty command', t => {
	t.is(serverName([]), '');
});

test('does not use environment assignments as a name', t => {
	t.false(serverName(['env', 'API_KEY=hunter2', 'npx', 'some-server']).includes('hunter2'));
});

test('does not use inline code as a name', t => {
	t.is(serverName(['node', '-e', 'process.stdin.pipe(process.stdout)']), 'node');
});
