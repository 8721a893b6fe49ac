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

type ToolResponse = {
	readonly id: unknown;
	readonly result: {readonly content: readonly [{readonly text: string}]};
};

/** Creates a folder with an executable program and puts it first in PATH. */
async function createProgram(t: ExecutionContext, name: string, text: string) {
	const folder = await newFolder(t);
	writeFileSync(join(folder, name), text);
	chmodSync(join(folder, name), 0o755);
	return {folder, env: {...process.env, PATH: `${folder}:${process.env.PATH}`}};
}

function run(folder: string, script: string, env: NodeJS.ProcessEnv, ...args: readonly string[]) {
	const file = join(folder, 'request.sh');
	writeFileSync(file, script);
	return spawnSync('sh', [file, ...args], {encoding: 'utf8', env, cwd: folder, input: ''});
}

/** Returns the first request with this method as the page records it. */
async function recordedRequest(view: View, method: string) {
	const rows = async () => (await view.rows(`method=${encodeURIComponent(method)}`)).rows;
	await until(async () => (await rows()).length > 0);
	const [row] = (await rows()) as [ListedRow];
	const line = parseJsonSource((await view.line(row.row)).text);
	return {message: isJsonMembers(line) ? line.message : undefined, server: row.server, version: row.version};
}

test('a copied script sends its request through bridge to the server in its arguments [U-P1-5]', async t => {
	const shim = `#!/bin/sh\nexec '${process.execPath}' '${bridgeBin}' "$@"\n`;
	const {folder, env} = await createProgram(t, 'mcp-bridge', shim);
	for (const version of ['2024-11-05', '2025-06-18', '2025-11-25']) {
		const log = join(folder, `${version}.ndjson`);
		const target = server('speaker', version);
		const bridge = start(t, ['--log', log, '--', ...target]);
		await bridge.shakeHands();
		await bridge.request(1, 'tools/call', {name: 'say', arguments: {text: "it's ünusual\n"}});
		await bridge.end();
		const view = await startView(t, log);
		t.is((await view.state()).gateway, null);
		const script = pipeScript(await recordedRequest(view, 'tools/call'));
		const {stdout, status} = run(folder, script, env, '--', ...target);
		t.is(status, 0);
		const response = parseNdjson<ToolResponse>(stdout).find(({id}) => id === 1);
		t.deepEqual(JSON.parse(response?.result.content[0].text ?? ''), {
			name: 'say',
			arguments: {text: "it's ünusual\n"},
		});
		const unnamed = run(folder, script, env);
		t.is(unnamed.status, 2);
		t.regex(unnamed.stderr, /Usage: sh .* -- COMMAND .* --url URL/);
	}
});

test('a copied script never executes text from the log [U-P1-5]', async t => {
	const {folder, env} = await createProgram(
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

test('the state of bridge view --live has the origin of its gateway [U-P1-5]', async t => {
	const view = await startView(t, '--live', 'http://127.0.0.1:9/?x=1');
	t.is((await view.state()).gateway, 'http://127.0.0.1:9');
});
