import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {createServer as createHttp} from 'node:http';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {DoctorFinding} from '../../../lib/admin/doctor/finding.js';
import {freePort} from '../../helpers/free-port.js';
import {type Home, newHome} from './home.js';

/** Installs a fake Codex that prints its version. */
function installCodex({home, env}: Home, helpExit: number): string {
	const folder = join(home, 'bin');
	mkdirSync(folder, {recursive: true});
	const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo codex-cli 0.199.0; exit 0; fi\necho "mcp-server is what you asked for" >&2\nexit ${helpExit}\n`;
	writeFileSync(join(folder, 'codex'), script);
	chmodSync(join(folder, 'codex'), 0o755);
	env.PATH = `${folder}:${env.PATH}`;
	return folder;
}

/** Creates a home whose gateway uses a free port, so that tests do not conflict. */
async function doctorHome(t: ExecutionContext): Promise<Home & {port: number}> {
	const home = newHome(t);
	const port = await freePort();
	home.put('.config/bridge/bridge.yaml', `listen: ${port}\nservers: {}\n`);
	return {...home, port};
}

const examine = async ({run}: Home, ...args: string[]) => {
	const {code, out, stderr} = await run('doctor', '--json', ...args);
	const {ok, findings} = JSON.parse(out) as {ok: boolean; findings: DoctorFinding[]};
	const bad = findings.filter(
		({state, about}) => (state === 'error' || state === 'warning') && about !== 'Processes',
	);
	return {code, ok, findings, bad, stderr};
};

for (const [kind, exit] of [
	['app-server', 2],
	['mcp-server', 0],
] as const)
	test(`doctor reports no problems in a clean home, and that Codex is used by ${kind}`, async t => {
		const home = await doctorHome(t);
		installCodex(home, exit);
		const {code, bad, findings, ok} = await examine(home);
		t.deepEqual(bad, []);
		t.is(code, 0);
		t.true(ok);
		const codex = findings.find(({about}) => about === 'Codex');
		t.regex(codex?.text ?? '', new RegExp(`codex-cli 0\\.199\\.0 by ${kind}: .*/bin/codex`));
	});

test('doctor reports a missing Codex with a remedy and exits with 1', async t => {
	const home = await doctorHome(t);
	home.put('.config/atm/config.toml', '[plugins.codex-mcp]\ncodex_bin = "codex-that-is-not-there"');
	const {code, out} = await home.run('doctor');
	t.is(code, 1);
	t.regex(
		out,
		/^XX {2}Codex: The command codex-that-is-not-there was not found or is not executable\.\n {4}Install Codex with npm/m,
	);
	t.regex(out, /\nErrors: 1\. Warnings: \d+\.\n$/);
});

test('doctor reports settings that a repository may not set [K1]', async t => {
	const home = await doctorHome(t);
	installCodex(home, 2);
	writeFileSync(join(home.cwd, '.atm.toml'), '[plugins.codex-mcp]\ncodex_bin = "./evil"');
	const {bad, code} = await examine(home);
	t.is(code, 0);
	t.is(bad.length, 1);
	t.regex(bad[0]?.text ?? '', /codex_bin is ignored: it names a program to run/);
});

test('doctor reports invalid configurations with file and remedy', async t => {
	const home = await doctorHome(t);
	installCodex(home, 2);
	home.put('.config/bridge/bridge.yaml', 'lisen: 1');
	home.env.ATM_CONFIG = home.put('named.toml', 'x');
	const {bad, code} = await examine(home);
	t.is(code, 1);
	t.true(bad.some(({about, text}) => about === 'Servers' && /lisen: This key is not known/.test(text)));
	t.true(bad.some(({about, text}) => about === 'Sessions' && /named\.toml:1:1: Invalid TOML/.test(text)));
});

test('doctor checks folders, permissions, registries, locks and leftovers, each with a remedy', async t => {
	const home = await doctorHome(t);
	installCodex(home, 2);
	const state = '.config/atm/codex-sessions';
	home.sessions('red', {status: 'closed'});
	home.put(`${state}/red/registry.json.corrupt-1`, 'x');
	home.put(
		`${state}/red/dead.lock`,
		'{"pid":4194304,"codex_id":"codex:x","startedAt":"2026-01-01T00:00:00Z"}',
	);
	home.put(`${state}/blue/registry.json`, '{');
	home.put(`${state}/green/registry.json`, '{"version":2,"sessions":[]}');
	chmodSync(home.put(`${state}/audit.jsonl`, ''), 0o644);
	chmodSync(join(home.home, state), 0o755);
	const {bad, code, findings} = await examine(home);
	t.is(code, 1);
	const report = bad
		.map(({state: level, about, text, remedy}) => `${level} ${about}: ${text} | ${remedy}`)
		.join('\n');
	for (const pattern of [
		/warning Folder: .*codex-sessions can be read by others \(755\) \| chmod 700 /,
		/warning Audit: .*audit\.jsonl can be read by others \(644\) \| chmod 600 /,
		/warning Team red: a broken registry was renamed: registry\.json\.corrupt-1 \| Look at it/,
		/warning Team red: locks of dead processes: dead \| The next bridge serve/,
		/error Team blue: .*registry\.json cannot be used: it is not valid JSON\. \| /,
		/error Team green: .*it is of version 2\. \| It was written by a newer version of bridge/,
	])
		t.regex(report, pattern);
	t.is(bad.length, 6, report);
	t.true(
		findings.some(({about, text}) => about === 'Team red' && text.startsWith('1 session, 0 of them active')),
	);
});

test('doctor distinguishes a running gateway from another program on its port', async t => {
	const home = await doctorHome(t);
	installCodex(home, 2);
	let status = 404;
	const server = createHttp((_request, response) => response.writeHead(status).end()).listen(
		home.port,
		'127.0.0.1',
	);
	t.teardown(() => server.close());
	const {bad} = await examine(home);
	t.is(bad.length, 1);
	t.regex(bad[0]?.text ?? '', new RegExp(`another program listens on 127\\.0\\.0\\.1:${home.port}`));
	status = 200;
	t.deepEqual((await examine(home)).bad, []);
});
