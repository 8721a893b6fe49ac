import {execFile} from 'node:child_process';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {claudeList} from './claude.js';
import {type CodexHome, codexExec, codexes, codexHome} from './codex.js';
import {serviceUrl, startGateway} from './gateway.js';
import {bridgeFile, type Command, temporaryFolder} from './peers.js';
import {callTool, type ScriptedModel, startModel} from './scripted-model.js';

/* Claude Code and Codex in their normal setup, connected to each kind of bridge. */

const shopFile = fileURLToPath(new URL('../../fixtures/servers/shop.js', import.meta.url));
const shop = {command: process.execPath, args: [shopFile, '--name=shop', '--needs=SHOP_TOKEN']};
/** A server without its credential: it prints the reason and exits. */
const broken = {command: process.execPath, args: [shopFile, '--needs=NO_SUCH_TOKEN']};
const TOKEN = 'the-token-of-the-shop';

const bridge = (...args: string[]): Command => ({command: process.execPath, args: [bridgeFile, ...args]});
const wrapped = ({command, args}: Command): Command => bridge('--', command, ...args);

/** All ways to reach a server through bridge. `serve` finds Codex on its PATH. */
async function everyKind(t: ExecutionContext, codexEnv: CodexHome['env']) {
	const folder = await temporaryFolder(t);
	const services = {shop: {...shop, env: {SHOP_TOKEN: TOKEN}}, broken};
	const gateway = await startGateway(t, {folder, services});
	const hubFile = join(folder, 'hub.json');
	await writeFile(hubFile, JSON.stringify({servers: services}));
	const bin = join(folder, 'bin');
	await mkdir(bin);
	await symlink(codexes['app-server'].launcher, join(bin, 'codex'));
	const env = {...codexEnv, PATH: `${bin}${delimiter}${process.env.PATH}`};
	return {
		wrapped: {...wrapped(shop), env: {SHOP_TOKEN: TOKEN}},
		hub: bridge('hub', '--config', hubFile),
		serve: {...bridge('serve'), env},
		urls: {gateway: serviceUrl(gateway, 'shop'), failing: serviceUrl(gateway, 'broken')},
	};
}

/** A configuration table of a required server whose tools need no approval. */
function table(name: string, {command, args, env = {}}: Command): string {
	const entries = Object.entries(env).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
	return `[mcp_servers.${name}]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
env = {${entries.join(', ')}}
required = true
default_tools_approval_mode = "approve"
startup_timeout_sec = 100
`;
}

test.serial(
	'Claude Code connects to a wrapped server with env, a gateway service, the hub and serve [U-P0-1]',
	async t => {
		t.timeout(150_000);
		const {env} = await codexHome(t, await startModel(t), {});
		const {wrapped, hub, serve, urls} = await everyKind(t, env);
		const lines = await claudeList(t, {
			wrapped,
			hub,
			serve,
			gateway: {type: 'http', url: urls.gateway},
		});
		for (const [name, line] of lines) t.regex(line, /✔ Connected/, name);
	},
);

test.serial(
	'Claude Code shows why a broken server cannot start, wrapped or in the gateway [U-P0-2]',
	async t => {
		t.timeout(150_000);
		const {env} = await codexHome(t, await startModel(t), {});
		const {urls} = await everyKind(t, env);
		const lines = await claudeList(t, {
			wrapped: wrapped(broken),
			gateway: {type: 'http', url: urls.failing},
		});
		for (const [name, line] of lines) t.regex(line, /✘ Failed to connect.*NO_SUCH_TOKEN is required/, name);
	},
);

const calls = {
	wrapped: callTool('wrapped', 'variable', {name: 'SHOP_TOKEN'}),
	gateway: callTool('gateway', 'variable', {name: 'SHOP_TOKEN'}),
	hub: callTool('hub', 'run', {command: 'shop.variable(name="SHOP_TOKEN")'}),
	serve: callTool('serve', 'codex_status'),
} as const;

/** Creates a Codex home with one kind of bridge. */
async function homeWith(t: ExecutionContext, model: ScriptedModel, kind: keyof typeof calls) {
	const {env} = await codexHome(t, model, {});
	const {urls, ...commands} = await everyKind(t, env);
	if (kind === 'gateway') return codexHome(t, model, {gateway: urls.gateway});
	return codexHome(t, model, {}, table(kind, commands[kind]));
}

for (const [kind, expected] of [
	['wrapped', TOKEN],
	['gateway', TOKEN],
	['hub', TOKEN],
	['serve', 'child_alive'],
] as const)
	test.serial(`Codex calls a tool in a real turn: ${kind} [U-P0-1]`, async t => {
		t.timeout(150_000);
		const model = await startModel(t);
		const reply = await codexExec(await homeWith(t, model, kind), calls[kind]);
		t.true(reply.includes(expected), reply);
	});

test.serial('Codex exits with the reason when a required server is broken [U-P0-2]', async t => {
	t.timeout(150_000);
	const {folder, env} = await codexHome(t, await startModel(t), {}, table('broken', wrapped(broken)));
	const words = ['exec', '--skip-git-repo-check', 'say hello'];
	const running = promisify(execFile)(codexes['app-server'].native, words, {cwd: folder, env});
	running.child.stdin?.end();
	const {stderr} = (await t.throwsAsync(running)) as unknown as {readonly stderr: string};
	t.regex(stderr, /NO_SUCH_TOKEN is required/);
});
