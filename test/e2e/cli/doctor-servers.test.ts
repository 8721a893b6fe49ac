import {existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {stringify} from 'yaml';
import type {DoctorFinding} from '../../../lib/admin/doctor/finding.js';
import {server, startBridge} from '../../helpers/bridge.js';
import {freePort} from '../../helpers/free-port.js';
import {until} from '../../helpers/program.js';
import {type Home, newHome} from './home.js';

const commandOf = ([command = '', ...args]: readonly string[]) => ({command, args});
const script = (code: string) => commandOf([process.execPath, '-e', code]);

/** Creates a home without Codex, with these servers in the configuration. */
async function homeWith(home: Home, servers: object): Promise<Home> {
	const bin = join(home.home, 'empty');
	mkdirSync(bin);
	home.env.PATH = bin;
	home.put('.config/bridge/bridge.yaml', stringify({listen: await freePort(), servers}));
	return home;
}

async function examine({run}: Home, ...args: string[]) {
	const {code, out, stderr} = await run('doctor', '--json', ...args);
	const {findings} = JSON.parse(out) as {findings: DoctorFinding[]};
	const about = (name: string): DoctorFinding | undefined => findings.find(each => each.about === name);
	return {code, about, findings, stderr};
}

test('doctor starts each server once and reports version, tools and time, or the reason and stderr [U-P1-9]', async t => {
	const home = newHome(t);
	const starts = join(home.home, 'starts');
	const counted = ['/bin/sh', '-c', 'echo start >> "$0"; exec "$@"', starts];
	await homeWith(home, {
		shop: {...commandOf([...counted, ...server('shop', '--name=shop')]), env: {A: '1'}},
		dies: commandOf([...counted, process.execPath, '-e', "console.error('no database'); process.exit(3)"]),
		missing: {command: 'no-such-command'},
		off: {command: 'no-such-command', enabled: false},
	});
	const {code, about} = await examine(home);
	t.is(code, 1);
	t.is(about('Server shop')?.state, 'ok');
	t.regex(about('Server shop')?.text ?? '', /^shop .*2025-11-25, \d+ tools, \d+\.\d s$/);
	t.is(about('Server dies')?.state, 'error');
	t.regex(about('Server dies')?.text ?? '', /exited with code 3.*no database/);
	t.regex(about('Server missing')?.text ?? '', /no-such-command could not be started/);
	t.is(about('Server off')?.state, 'info');
	t.is(readFileSync(starts, 'utf8'), 'start\n'.repeat(2));
});

test('doctor names the withheld variables of a server that exits, as the gateway does [U-P0-1] [U-P1-9]', async t => {
	const home = newHome(t);
	await homeWith(home, {
		needs: script("console.error('GITHUB_TOKEN is required'); process.exit(1)"),
		missing: {command: 'no-such-command'},
	});
	home.env.GITHUB_TOKEN = 'canary';
	const {about} = await examine(home);
	const {remedy = ''} = about('Server needs') ?? {};
	t.regex(
		remedy,
		/^Fix it, or set enabled: false for needs\. bridge did not pass .* to it: GITHUB_TOKEN[,.]/,
	);
	t.regex(remedy, /servers\.needs\.env: \{ NAME: "\$\{NAME\}" \}\.$/);
	t.notRegex(remedy, /canary/);
	t.notRegex(about('Server missing')?.remedy ?? '', /GITHUB_TOKEN/);
});

test('doctor without Codex and without sessions reports no errors [U-P1-9]', async t => {
	const home = newHome(t);
	await homeWith(home, {shop: commandOf(server('shop'))});
	const {code, about, findings} = await examine(home);
	t.deepEqual(
		findings.filter(({state}) => state === 'error'),
		[],
	);
	t.is(code, 0);
	t.is(about('Codex')?.state, 'info');
	t.regex(about('Codex')?.text ?? '', /not found, which only bridge serve needs/);
	t.is(about('Sessions')?.state, 'info');
	home.sessions('red', {status: 'closed'});
	t.is((await examine(home)).about('Codex')?.state, 'error', 'sessions need Codex');
});

test('doctor without Codex accepts a team configuration without session settings [U-P1-9]', async t => {
	const home = newHome(t);
	await homeWith(home, {});
	writeFileSync(join(home.cwd, '.atm.toml'), '[core]\ndefault_team = "crew"\n');
	t.is((await examine(home)).about('Codex')?.state, 'info');
	writeFileSync(join(home.cwd, '.atm.toml'), '[plugins.codex-mcp]\nrequest_timeout_secs = 60\n');
	t.is((await examine(home)).about('Codex')?.state, 'error');
});

test('doctor reports no error for a folder that only sessions would need [U-P1-9]', async t => {
	const home = newHome(t);
	await homeWith(home, {});
	const file = home.put('file', '');
	home.env.ATM_HOME = join(file, 'folder');
	const {about} = await examine(home);
	t.is(about('Folder')?.state, 'info');
	t.regex(about('Folder')?.text ?? '', /cannot be created.*only sessions need it/);
});

test('doctor reports a port in use as an error only if the configuration sets an address [U-P1-9]', async t => {
	const home = newHome(t);
	const port = await freePort();
	const other = createServer().listen(port, '127.0.0.1');
	t.teardown(() => other.close());
	await until(() => other.listening);
	home.put('.config/bridge/bridge.yaml', stringify({listen: port, servers: {}}));
	t.is((await examine(home)).about('Gateway')?.state, 'error');
	home.put('.config/bridge/bridge.yaml', stringify({servers: {}}));
	t.not((await examine(home)).about('Gateway')?.state, 'error');
});

test('doctor connects to servers with a url [U-P1-9]', async t => {
	const home = newHome(t);
	const http = createServer((request, response) => {
		let body = '';
		request.setEncoding('utf8').on('data', text => {
			body += text;
		});
		request.on('end', () => {
			const {id, method} = JSON.parse(body || '{}');
			const result =
				method === 'initialize'
					? {
							protocolVersion: '2025-06-18',
							capabilities: {tools: {}},
							serverInfo: {name: 'web', version: '7'},
						}
					: {tools: [{name: 'one', inputSchema: {type: 'object'}}]};
			if (id === undefined) return response.writeHead(202).end();
			return response
				.writeHead(200, {'content-type': 'application/json'})
				.end(JSON.stringify({jsonrpc: '2.0', id, result}));
		});
	}).listen(0, '127.0.0.1');
	t.teardown(() => http.close());
	await until(() => http.listening);
	const {port} = http.address() as AddressInfo;
	await homeWith(home, {
		web: {url: `http://127.0.0.1:${port}/mcp`},
		none: {url: `http://127.0.0.1:${await freePort()}/mcp`},
	});
	const {about} = await examine(home);
	t.regex(about('Server web')?.text ?? '', /^web 7, 2025-06-18, 1 tool, /);
	t.is(about('Server none')?.state, 'error');
});

test('doctor starts no servers of an untrusted file [U-P1-9]', async t => {
	const home = newHome(t);
	const mark = join(home.home, 'started');
	writeFileSync(
		join(home.cwd, 'bridge.yaml'),
		stringify({servers: {a: script(`require('fs').writeFileSync(${JSON.stringify(mark)}, '')`)}}),
		{mode: 0o600},
	);
	const {code, about} = await examine(home);
	t.is(code, 1);
	t.regex(about('Servers')?.text ?? '', /is not trusted/);
	t.is(about('Server a'), undefined);
	t.false(existsSync(mark));
	await home.run('trust');
	await examine(home);
	t.true(existsSync(mark), 'a trusted file is used');
});

test('doctor stops its servers when it is interrupted [U-P1-9]', async t => {
	const home = newHome(t);
	const mark = join(home.home, 'pid');
	await homeWith(home, {
		hangs: script(
			`require('fs').writeFileSync(${JSON.stringify(mark)}, String(process.pid)); setInterval(() => {}, 1000)`,
		),
	});
	const doctor = startBridge(['doctor', '--json'], {cwd: home.cwd, env: home.env});
	await until(() => existsSync(mark) && readFileSync(mark, 'utf8') !== '');
	doctor.child.kill('SIGINT');
	await doctor.exited;
	t.regex(doctor.lines.join('\n'), /hangs did not respond before the check ended/);
	await until(() => !readdirSync('/proc').includes(readFileSync(mark, 'utf8')));
	t.pass();
});
