import {readFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {server} from '../../helpers/bridge.js';
import {program, startGateway} from '../../helpers/gateway.js';
import {newFolder, newMarker, startReady} from '../../helpers/program.js';

const titleOf = (pid: number): string =>
	readFileSync(`/proc/${pid}/cmdline`, 'latin1').replace(/\0+$/, '').replaceAll('\0', ' ');

test('ps shows the name of a wrapped server without its arguments [U-P1-21]', async t => {
	const puppet = server('puppet', newMarker(t), 'canary');
	for (const flags of [[], ['--env', 'SECRET=canary', '--timeout', '30']]) {
		const bridge = await startReady(t, [...flags, '--', ...puppet]);
		t.is(titleOf(bridge.pid), 'bridge: puppet');
		const {pid} = (await bridge.request(1, 'pid')).result as {pid: number};
		t.is(titleOf(pid), puppet.join(' '));
		t.is(await bridge.end(), 0);
	}
});

test('ps shows the host of a remote server without its path [U-P1-21]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet', newMarker(t))}});
	t.is(titleOf(gateway.running.pid), 'bridge gateway');
	const url = new URL('/mcp/puppet?key=canary', gateway.base);
	const bridge = await startReady(t, ['--header', 'X-Key: canary', '--url', url.href]);
	t.is(titleOf(bridge.pid), `bridge: ${gateway.base.host}`);
});

test('ps shows the subcommand of other instances of bridge [U-P1-21]', async t => {
	const file = join(await newFolder(t), 'bridge.json');
	await writeFile(file, JSON.stringify({servers: {puppet: program('puppet', newMarker(t))}}));
	const hub = await startReady(t, ['hub', '--config', file]);
	t.is(titleOf(hub.pid), 'bridge hub');
});
