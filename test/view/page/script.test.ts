import {spawnSync} from 'node:child_process';
import {chmodSync, existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {isJsonMembers, parseJsonSource} from '../../../lib/view/page/json.js';
import {curlScript, pipeScript} from '../../../lib/view/page/shell-scripts.js';
import type {ListedRow} from '../../../lib/view/page/types.js';
import {bridgeBin, server} from '../../helpers/bridge.js';
import {parseNdjson} from '../../helpers/ndjson.js';
import {newFolder, start, until} from '../../helpers/program.js';
import {startView, type View} from '../view.js';

type Answer = {readonly id: unknown; readonly result: {readonly content: readonly [{readonly text: string}]}};

/** A folder with a program of this name, which is found before all others. */
async function programs(t: ExecutionContext, name: string, text: string) {
	const folder = await newFolder(t);
	writeFileSync(join(folder, name), text);
	chmodSync(join(folder, name), 0o755);
	return {folder, env: {...process.env, PATH: `${folder}:${process.env.PATH}`}};
}

/** Runs a script as a file. */
function run(folder: string, script: string, env: NodeJS.ProcessEnv, ...args: readonly string[]) {
	const file = join(folder, 'request.sh');
	writeFileSync(file, script);
	return spawnSync('sh', [file, ...args], {encoding: 'utf8', env, cwd: folder, input: ''});
}

/** The first request with this method, as the page has it. */
async function recorded(view: View, method: string) {
	const rows = async () => (await view.rows(`method=${encodeURIComponent(method)}`)).rows;
	await until(async () => (await rows()).length > 0);
	const [row] = (await rows()) as [ListedRow];
	const line = parseJsonSource((await view.line(row.row)).text);
	return {message: isJsonMembers(line) ? line.message : undefined, server: row.server, version: row.version};
}

test('a request in a log is copied as a script that sends it through bridge to a server that is named [U-P1-5]', async t => {
	const shim = `#!/bin/sh\nexec '${process.execPath}' '${bridgeBin}' "$@"\n`;
	const {folder, env} = await programs(t, 'mcp-bridge', shim);
	for (const version of ['2024-11-05', '2025-06-18', '2025-11-25']) {
		const log = join(folder, `${version}.ndjson`);
		const target = server('speaker', version);
		const bridge = start(t, ['--log', log, '--', ...target]);
		await bridge.shakeHands();
		await bridge.request(1, 'tools/call', {name: 'say', arguments: {text: "it's ünusual\n"}});
		await bridge.end();
		const view = await startView(t, log);
		t.is((await view.state()).gateway, null);
		const script = pipeScript(await recorded(view, 'tools/call'));
		const {stdout, status} = run(folder, script, env, '--', ...target);
		t.is(status, 0);
		const answer = parseNdjson<Answer>(stdout).find(({id}) => id === 1);
		t.deepEqual(JSON.parse(answer?.result.content[0].text ?? ''), {
			name: 'say',
			arguments: {text: "it's ünusual\n"},
		});
		const unnamed = run(folder, script, env);
		t.is(unnamed.status, 2);
		t.regex(unnamed.stderr, /Usage: sh .* -- COMMAND .* --url URL/);
	}
});

test('no text of a log is run by a script that was copied [U-P1-5]', async t => {
	const {folder, env} = await programs(
		t,
		'curl',
		'#!/bin/sh\nprintf "%s|" "$@"; cat; case "$*" in *-D*) echo "Mcp-Session-Id: s";; esac\n',
	);
	const evil = "'; touch evil; $(touch evil) `touch evil` \nEND\ntouch evil\n";
	const params = {
		name: evil,
		_meta: {'io.modelcontextprotocol/protocolVersion': '2026-07-28'},
	};
	const messages = [
		{jsonrpc: '2.0', id: evil, method: evil, params: evil},
		{jsonrpc: '2.0', id: 1, method: 'tools/call', params},
		{jsonrpc: '2.0', id: 1, method: evil, params},
	];
	for (const message of messages) {
		const hostile = {message, server: evil, version: evil};
		const script = curlScript(hostile, 'http://127.0.0.1:1');
		const {stdout, stderr} = run(folder, script, env);
		t.true(stdout.includes(JSON.stringify(message.id)), stderr);
		t.is(spawnSync('sh', ['-n', '-c', pipeScript(hostile)]).status, 0);
		run(folder, pipeScript(hostile), env, '--version');
		t.false(existsSync(join(folder, 'evil')));
	}
});

test('the page of bridge view --live has the origin of its gateway [U-P1-5]', async t => {
	const view = await startView(t, '--live', 'http://127.0.0.1:9/?x=1');
	t.is((await view.state()).gateway, 'http://127.0.0.1:9');
});
