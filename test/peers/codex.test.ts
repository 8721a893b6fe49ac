import test, {type ExecutionContext} from 'ava';
import {freePort} from '../helpers/free-port.js';
import {CodexAppServer, codexExec, codexHome, codexServers} from './codex.js';
import {toolsOf} from './eras.js';
import {fixtureCommand, fixtureUrl, type Mode, startFixture} from './fixtures.js';
import {type Service, serviceUrl, startGateway} from './gateway.js';
import {temporaryFolder} from './peers.js';
import {newMarker, processesWith} from './processes.js';
import {callTool, type ScriptedModel, startModel} from './scripted-model.js';

/*
 * Codex requests 2025-06-18 over streamable HTTP. The servers here support 2024-11-05, over several
 * transports.
 */

const version = '2024-11-05';
const expected = /This is a simple text response for testing\./;
const callIt = callTool('demo', 'test_simple_text');

/** Starts a server, and returns how the gateway reaches it. */
async function serviceOver(t: ExecutionContext, mode: Mode): Promise<Service> {
	if (mode === 'stdio') {
		const {args, ...command} = fixtureCommand({mode, version});
		return {...command, args: [...args, newMarker(t)]};
	}

	const {port} = await startFixture(t, {mode, version});
	return {url: fixtureUrl(mode, port), transport: mode};
}

async function startDemo(t: ExecutionContext, service: Service) {
	t.timeout(120_000);
	const folder = await temporaryFolder(t);
	return startGateway(t, {folder, services: {demo: service}});
}

/** Opens a thread in which a tool of the server was called once. */
async function converse(t: ExecutionContext, model: ScriptedModel, url: string) {
	const codex = await CodexAppServer.start(t, await codexHome(t, model, {demo: url}));
	const thread = await codex.startThread();
	const turn = (text: string): Promise<string> => codex.turn(thread, text);
	t.regex(await turn(callIt), expected, 'the tool works at first');
	return {turn, close: () => codex.close()};
}

test.serial('Codex lists and calls a tool without the gateway: the baseline of these tests', async t => {
	t.timeout(120_000);
	const model = await startModel(t);
	const {port} = await startFixture(t, {mode: 'http', version});
	const home = await codexHome(t, model, {demo: fixtureUrl('http', port)});
	t.regex(await codexExec(home, callIt), expected);
	t.deepEqual(model.toolsOf('demo'), toolsOf(version));
});

for (const mode of ['stdio', 'http', 'sse', 'ws'] as const) {
	test.serial(`Codex lists and calls a tool of a ${version} server over ${mode} in a real turn`, async t => {
		const gateway = await startDemo(t, await serviceOver(t, mode));
		const model = await startModel(t);
		const home = await codexHome(t, model, {demo: serviceUrl(gateway, 'demo')});
		t.regex(await codexExec(home, callIt), expected);
		t.deepEqual(model.toolsOf('demo'), toolsOf(version));
	});
}

for (const mode of ['http', 'sse', 'ws'] as const) {
	test.serial(`Codex continues its thread after the upstream over ${mode} restarts`, async t => {
		const options = {mode, version, port: await freePort()} as const;
		const fixture = await startFixture(t, options);
		const gateway = await startDemo(t, {url: fixtureUrl(mode, options.port), transport: mode});
		const {turn, close} = await converse(t, await startModel(t), serviceUrl(gateway, 'demo'));
		await fixture.stop();
		await startFixture(t, options);
		t.regex(await turn(callIt), expected);
		t.is(await close(), 0);
	});
}

test.serial('Codex continues its thread after the upstream over stdio is killed', async t => {
	const marker = newMarker(t);
	const {args, ...command} = fixtureCommand({mode: 'stdio', version});
	const gateway = await startDemo(t, {...command, args: [...args, marker]});
	const {turn, close} = await converse(t, await startModel(t), serviceUrl(gateway, 'demo'));
	const children = await processesWith(marker);
	t.is(children.length, 1);
	for (const pid of children) process.kill(Number(pid), 'SIGKILL');
	// A call that is pending when the server dies is not retried, since it may have been executed.
	await gateway.printed(/"upstream\.lost"/);
	t.regex(await turn(callIt), expected);
	t.is(await close(), 0);
});

for (const mode of ['stdio', 'http'] as const) {
	test.serial(`Codex continues its thread after the gateway of a ${mode} upstream restarts`, async t => {
		const folder = await temporaryFolder(t);
		const options = {folder, services: {demo: await serviceOver(t, mode)}, port: await freePort()};
		t.timeout(120_000);
		const gateway = await startGateway(t, options);
		const {turn, close} = await converse(t, await startModel(t), serviceUrl(gateway, 'demo'));
		await gateway.stop();
		await startGateway(t, options);
		t.regex(await turn(callIt), expected);
		t.is(await close(), 0);
	});
}

test.serial('Codex gets an error while the upstream is down, and can call it after its restart', async t => {
	const options = {mode: 'http', version, port: await freePort()} as const;
	const fixture = await startFixture(t, options);
	const gateway = await startDemo(t, {url: fixtureUrl('http', options.port), transport: 'http'});
	const {turn, close} = await converse(t, await startModel(t), serviceUrl(gateway, 'demo'));
	await fixture.stop();
	t.regex(await turn(callIt), /^completed: The tool returned: .*the connection was refused/);
	await startFixture(t, options);
	t.regex(await turn(callIt), expected);
	t.is(await close(), 0);
});

test.serial('Codex detects that the gateway does not require a login', async t => {
	const gateway = await startDemo(t, await serviceOver(t, 'http'));
	const home = await codexHome(t, await startModel(t), {demo: serviceUrl(gateway, 'demo')});
	t.like(await codexServers(home), [{name: 'demo', enabled: true, auth_status: 'unsupported'}]);
});
