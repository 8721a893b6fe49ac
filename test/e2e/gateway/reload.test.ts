import {writeFile} from 'node:fs/promises';
import test from 'ava';
import {change} from '../../helpers/change.js';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {logged, newMarker, processesWith, until} from '../../helpers/program.js';

const servicesOf = async (gateway: RunningGateway): Promise<string[]> =>
	Object.keys(JSON.parse((await gateway.fetch('/status')).text).services);

test('adds a server without an effect on sessions of others', async t => {
	const gateway = await startGateway(t, {servers: {old: program('puppet')}});
	const session = await gateway.open('old');
	const {result: before} = await session.request(1, 'pid');
	await change(gateway, {servers: {old: program('puppet'), added: program('puppet')}});
	const added = await gateway.open('added');
	t.deepEqual((await added.request(1, 'echo', {a: 1})).result, {a: 1});
	t.deepEqual((await session.request(2, 'pid')).result, before);
});

test('delivers the response to a pending call after another server is added', async t => {
	const gateway = await startGateway(t, {servers: {old: program('puppet')}});
	const session = await gateway.open('old');
	const held = session.request('held', 'hold');
	await change(gateway, {servers: {old: program('puppet'), added: program('puppet')}});
	let count = 0;
	for (let id = 0; count < 1; id++)
		count = ((await session.request(id, 'held')).result as {count: number}).count;
	await session.request('release', 'release');
	t.deepEqual((await held).result, {was: 'held'});
});

test('stops the sessions and children of a removed server', async t => {
	const marker = newMarker(t);
	const gateway = await startGateway(t, {
		servers: {kept: program('puppet'), removed: program('puppet', marker)},
	});
	const [kept, removed] = [await gateway.open('kept'), await gateway.open('removed')];
	t.is(processesWith(marker).length, 1);
	await change(gateway, {servers: {kept: program('puppet')}});
	await until(() => processesWith(marker).length === 0);
	t.is((await removed.post({id: 1, method: 'pid'})).status, 404);
	t.is((await kept.post({id: 1, method: 'pid'})).status, 200);
	t.deepEqual(await servicesOf(gateway), ['kept']);
});

test('restarts a changed server and ends its sessions with 404', async t => {
	const marker = newMarker(t);
	const gateway = await startGateway(t, {servers: {one: program('puppet', marker), two: program('puppet')}});
	const [one, two] = [await gateway.open('one'), await gateway.open('two')];
	const {result: before} = await two.request(1, 'pid');
	await change(gateway, {servers: {one: program('puppet', 'changed'), two: program('puppet')}});
	await until(() => processesWith(marker).length === 0);
	t.is((await one.post({id: 1, method: 'argv'})).status, 404);
	const again = await gateway.open('one');
	t.deepEqual((await again.request(1, 'argv')).result, {argv: ['changed']});
	t.deepEqual((await two.request(2, 'pid')).result, before);
});

test('rejects requests to a disabled server with the reason, until it is enabled again', async t => {
	const gateway = await startGateway(t, {servers: {one: program('puppet')}});
	await change(gateway, {servers: {one: {...program('puppet'), enabled: false}}});
	const rejected = await gateway.post('one', {id: 1, method: 'initialize'});
	t.is(rejected.status, 503);
	t.regex(rejected.text, /disabled/);
	await change(gateway, {servers: {one: program('puppet')}});
	t.truthy(await gateway.open('one'));
});

for (const [title, text] of [
	['invalid JSON', '{"servers": {'],
	['an unknown key', '{"listen":"127.0.0.1:0","severs":{}}'],
	['a server without a command', '{"listen":"127.0.0.1:0","servers":{"one":{}}}'],
	['a variable that is not set', `{"tokens":["$\{BRIDGE_TEST_NOT_SET}"]}`],
	['a public address without a token', '{"listen":"0.0.0.0:0","servers":{}}'],
] as const)
	test(`reports a file with ${title} and keeps the previous configuration [K3]`, async t => {
		const gateway = await startGateway(t, {servers: {one: program('puppet')}});
		const session = await gateway.open('one');
		await writeFile(gateway.file, text);
		await until(() => logged(gateway.running, 'config.broken').length > 0);
		t.is((await session.post({id: 1, method: 'pid'})).status, 200);
		t.deepEqual(await servicesOf(gateway), ['one']);
		await change(gateway, {servers: {one: program('puppet'), added: program('puppet')}});
		t.deepEqual(await servicesOf(gateway), ['one', 'added']);
		t.is((await session.post({id: 2, method: 'pid'})).status, 200);
	});

test('a public gateway keeps its tokens, even if the file no longer has any [B1]', async t => {
	const config = {listen: '0.0.0.0:0', tokens: ['right-token-of-sixteen'], servers: {one: program('puppet')}};
	const gateway = await startGateway(t, config);
	await gateway.configure({listen: '127.0.0.1:0', servers: {one: program('puppet'), two: program('puppet')}});
	await until(() => logged(gateway.running, 'config.broken').length > 0);
	t.is((await gateway.fetch('/status')).status, 401);
	t.is((await gateway.fetch('/status', {headers: {'x-bridge-token': 'right-token-of-sixteen'}})).status, 200);
});

test('a new secret ends the sessions whose ids it cannot decrypt [M2]', async t => {
	const marker = newMarker(t);
	const config = {servers: {one: program('puppet', marker)}};
	const gateway = await startGateway(t, config);
	const [one, all] = [await gateway.open('one'), await gateway.open('')];
	await change(gateway, {...config, secret: 'a secret that replicas share'});
	await until(() => processesWith(marker).length === 0);
	for (const session of [one, all]) t.is((await session.post({id: 1, method: 'ping'})).status, 404);
	t.truthy((await (await gateway.open('one')).request(1, 'pid')).result);
});

test('warns that a changed listen address requires a restart', async t => {
	const gateway = await startGateway(t, {servers: {one: program('puppet')}});
	await change(gateway, {listen: '127.0.0.1:1', servers: {one: program('puppet'), two: program('puppet')}});
	t.is(logged(gateway.running, 'config.listen').length, 1);
	t.deepEqual(await servicesOf(gateway), ['one', 'two']);
});

test('applies changed tokens immediately [B17]', async t => {
	const config = {tokens: ['first-token-of-sixteen'], servers: {one: program('puppet')}};
	const gateway = await startGateway(t, config);
	await change(gateway, {...config, tokens: ['second-token-of-sixteen']});
	t.is((await gateway.fetch('/status', {headers: {'x-bridge-token': 'first-token-of-sixteen'}})).status, 401);
	t.is(
		(await gateway.fetch('/status', {headers: {'x-bridge-token': 'second-token-of-sixteen'}})).status,
		200,
	);
});
