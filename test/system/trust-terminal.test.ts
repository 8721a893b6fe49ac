import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {newHome} from '../e2e/cli/home.js';
import {onTerminal} from './terminal.js';
import {need} from './tools.js';

for (const [reply, isTrusted] of [
	['y', true],
	['n', false],
	['', false],
] as const)
	test(`gateway prompts on a terminal to trust a file, and ${reply || 'an empty line'} ${isTrusted ? 'uses it' : 'exits with 2'} [SEC-D7]`, async t => {
		need('script', 'bsdutils');
		const home = newHome(t);
		const text = 'listen: 127.0.0.1:0\nservers: {x: {command: some-server, args: [-v]}}';
		writeFileSync(join(home.cwd, 'bridge.yaml'), text);
		const {code, out} = await onTerminal(home.cwd, home.env, 'gateway', reply, 'all servers as one');
		t.regex(out, /bridge\.yaml is not trusted.*\r\n.*runs or connects to:\r\n {2}x: some-server -v\r\n/);
		t.is(out.includes('all servers as one'), isTrusted);
		// Ctrl+C terminates the gateway together with its shell.
		t.is(code === 2, !isTrusted, out);
		t.is((await home.run('gateway', '--print-client', 'codex')).code, isTrusted ? 0 : 2);
	});

test('hub does not prompt on a terminal: its input is MCP [SEC-D7]', async t => {
	need('script', 'bsdutils');
	const home = newHome(t);
	writeFileSync(join(home.cwd, 'bridge.yaml'), 'servers: {x: {command: y}}');
	const {code, out} = await onTerminal(home.cwd, home.env, 'hub', 'y');
	t.is(code, 2);
	t.false(out.includes('[y/N]'));
});
