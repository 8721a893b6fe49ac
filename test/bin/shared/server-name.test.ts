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
	test(`calls ${line} ${name}`, t => {
		t.is(serverName(line.split(' ')), name);
	});

test('has no name for nothing', t => {
	t.is(serverName([]), '');
});

test('calls no server by a variable that is set for it', t => {
	t.false(serverName(['env', 'API_KEY=hunter2', 'npx', 'some-server']).includes('hunter2'));
});

test('calls no server by the code that it is', t => {
	t.is(serverName(['node', '-e', 'process.stdin.pipe(process.stdout)']), 'node');
});
