import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {server} from '../../helpers/bridge.js';
import {newFolder} from '../../helpers/program.js';
import {bridgeLine, onTerminal, startOnTerminal} from '../../helpers/terminal.js';

const puppet = server('puppet');
const CTRL_C = '\u0003';
/** An environment without variables that control colors. */
const {NO_COLOR: _, FORCE_COLOR: __, ...plain} = process.env;

for (const [title, args, waits] of [
	[
		'bridge -- COMMAND',
		['--', ...puppet],
		/^bridge: Waiting for an MCP client on stdin, in front of puppet\. .*bridge versions/m,
	],
	[
		'bridge --url',
		['--url', 'http://127.0.0.1:1/mcp'],
		/^bridge: Waiting for an MCP client on stdin, in front of 127\.0\.0\.1:1\. .*bridge versions/m,
	],
	[
		'bridge hub',
		['hub', '--config', 'hub.json'],
		/^bridge: Waiting for an MCP client on stdin\. .*bridge install/m,
	],
	['bridge serve', ['serve'], /^bridge: Waiting for an MCP client on stdin\. .*bridge install/m],
] as const)
	test(`${title} explains on a terminal what it waits for [U-P1-14]`, async t => {
		const folder = await newFolder(t);
		const [command, ...rest] = puppet;
		await writeFile(join(folder, 'hub.json'), JSON.stringify({servers: {puppet: {command, args: rest}}}));
		const env = {...plain, HOME: folder, ATM_AGENT_MCP_CODEX_BIN: 'false'};
		const terminal = startOnTerminal(t, `cd '${folder}' && ${bridgeLine(...args)}`, env);
		await terminal.shows(waits);
		terminal.type(CTRL_C);
		await once(terminal.child, 'close');
		t.notRegex(terminal.text(), /bug/);
	});

async function gateway(t: ExecutionContext, servers: object, env: NodeJS.ProcessEnv = plain) {
	const file = join(await newFolder(t), 'bridge.json');
	await writeFile(file, JSON.stringify({servers}));
	// With exec, the exit code is that of the gateway and not of a shell that Ctrl+C also interrupts.
	return startOnTerminal(t, `exec ${bridgeLine('gateway', '--config', file, '--port', '0')}`, env);
}

const [command = '', ...args] = puppet;
const broken = {command: process.execPath, args: ['-e', 'console.error("no database"); process.exit(3)']};
const slow = {
	command: 'sh',
	args: [
		'-c',
		`echo 'fetching packages' >&2; sleep 4; exec '${command}' ${args.map(arg => `'${arg}'`).join(' ')}`,
	],
};

test('a gateway on a terminal prints its URL and the state of each server [U-P1-11]', async t => {
	const terminal = await gateway(t, {puppet: {command, args}, broken, slow, off: {command, enabled: false}});
	await terminal.shows(/^ {2}http:\/\/127\.0\.0\.1:\d+\/ +page/m);
	await terminal.shows(/✔ puppet +puppet 1, 2025-11-25, 0 tools, [\d.]+ s/);
	await terminal.shows(/✘ broken +broken exited with code 3\..*no database/);
	await terminal.shows(/- off +disabled/);
	await terminal.shows(/… slow +starting for 3 s: fetching packages/);
	await terminal.shows(/✔ slow +puppet 1/);
	t.true(terminal.text().includes('\u001b[32m✔\u001b[0m'));
	t.false(terminal.text().includes('mcpServers'));
	terminal.type(CTRL_C);
	const [code] = await once(terminal.child, 'close');
	t.is(code, 0);
	t.regex(terminal.text(), /Stopping\./);
});

test('a gateway on a terminal prints no colors with NO_COLOR [U-P1-11]', async t => {
	const terminal = await gateway(t, {puppet: {command, args}}, {...plain, NO_COLOR: '1'});
	await terminal.shows(/^✔ puppet +puppet 1/m);
	terminal.type(CTRL_C);
	await once(terminal.child, 'close');
	t.false(terminal.text().includes('\u001b['));
});

test('Ctrl+C with pending requests prints the time limit, and a second one stops at once [U-P1-13]', async t => {
	const terminal = await gateway(t, {puppet: {command, args}});
	await terminal.shows(/✔/);
	const [, url = ''] = /(http:\/\/127\.0\.0\.1:\d+)\/ +page/.exec(terminal.text()) ?? [];
	const post = (body: object, session: Record<string, string> = {}) =>
		fetch(`${url}/mcp/puppet`, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...session,
			},
			body: JSON.stringify({jsonrpc: '2.0', ...body}),
		});
	const params = {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'test', version: '1'}};
	const {headers} = await post({id: 1, method: 'initialize', params});
	const session = {'mcp-session-id': headers.get('mcp-session-id') ?? ''};
	await post({method: 'notifications/initialized'}, session);
	const pending = post({id: 2, method: 'hold'}, session).catch(() => undefined);
	// The response to a later request shows that the pending one has reached the server.
	await (await post({id: 3, method: 'echo'}, session)).text();
	terminal.type(CTRL_C);
	await terminal.shows(/Stopping\. Waiting up to 10 s for 1 pending request\. Ctrl\+C stops at once\./);
	terminal.type(CTRL_C);
	const [code] = await once(terminal.child, 'close');
	t.is(code, 0);
	await pending;
});

test('trace and log on a terminal both use local time [U-P1-1]', async t => {
	const bridge = bridgeLine('--debug', '--log-level', 'debug', '--', ...puppet);
	const calls = ['{"jsonrpc":"2.0","id":1,"method":"echo"}', 'not JSON']
		.map(line => `echo '${line}'`)
		.join('; ');
	for (const zone of ['Asia/Tokyo', 'America/New_York']) {
		const terminal = startOnTerminal(t, `(${calls}) | ${bridge} >/dev/null`, {
			...plain,
			TZ: zone,
			NO_COLOR: '1',
		});
		await once(terminal.child, 'close');
		const hours = [...terminal.text().matchAll(/^(\d\d):\d\d:\d\d\.\d{3} /gm)].map(([, hour]) => hour);
		const now = new Date();
		const near = [now, new Date(now.getTime() - 60_000)].map(time =>
			time.toLocaleTimeString('en-GB', {timeZone: zone}).slice(0, 2),
		);
		t.true(hours.length > 2, terminal.text());
		for (const hour of hours) t.true(near.includes(hour ?? ''), terminal.text());
		t.regex(terminal.text(), / warn | debug /);
	}
});

test('headings of help are bold on a terminal, unless NO_COLOR is set [U-P1-14]', async t => {
	for (const line of [bridgeLine('help', 'raw'), bridgeLine('raw', '--help')]) {
		const [, text] = await onTerminal(t, line, {...plain});
		t.true(text.includes('\u001b[1mUsage\u001b[0m'), text);
		const [, without] = await onTerminal(t, line, {...plain, NO_COLOR: '1'});
		t.false(without.includes('\u001b'), without);
	}
});
