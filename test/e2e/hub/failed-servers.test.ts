import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {server} from '../../helpers/bridge.js';
import {newFolder, until} from '../../helpers/program.js';
import {errorIn, logged, shop, startHub, textIn} from './support.js';

const dies = {command: 'sh', args: ['-c', 'echo "no database" >&2; exit 3']};
const REASON = /dies exited with code 3\..*The end of its stderr: no database/;

test('reports the end of stderr in list_servers, in errors and in the log [U-P0-2] [A-G5]', async t => {
	const hub = await startHub(t, {expose: 'both', servers: {wix: shop('wix'), dies}});
	await until(() => logged(hub.running, 'proxy.connect').some(({status}) => status === 'FAILED'));
	t.regex(errorIn(await hub.call('dies__anything')).message, /^Server 'dies' unavailable: /);
	t.regex(errorIn(await hub.call('dies__anything')).message, REASON);
	t.regex(textIn(await hub.call('run', {command: 'proxy.list_servers()'})), REASON);
	const {errorMessage} = logged(hub.running, 'proxy.connect').find(({status}) => status === 'FAILED') ?? {};
	t.regex(String(errorMessage), /dies exited with code 3/);
});

test('names the withheld variables of a child that exits at once, in errors and in list_servers [U-P0-1]', async t => {
	const env = {...process.env, SLACK_TOKEN: 'canary'};
	const hub = await startHub(t, {expose: 'both', servers: {dies}}, {env});
	await until(() => logged(hub.running, 'proxy.connect').some(({status}) => status === 'FAILED'));
	for (const text of [
		errorIn(await hub.call('dies__anything')).message,
		textIn(await hub.call('run', {command: 'proxy.list_servers()'})),
		textIn(await hub.call('run', {command: 'dies.anything()'})),
	]) {
		t.regex(
			text,
			/did not pass these environment variables to it: .*SLACK_TOKEN.* with env in its configuration/,
		);
		t.notRegex(text, /canary/);
	}
});

test('reconnects to an upstream whose first restart failed, without a request for it [U-P0-2]', async t => {
	const file = join(await newFolder(t), 'starts');
	const script = 'echo start >> "$0"; test $(wc -l < "$0") = 2 && exit 3; exec "$@"';
	const mortal = {command: 'sh', args: ['-c', script, file, ...server('shop', '--name=mortal')]};
	const hub = await startHub(t, {expose: 'tools', servers: {mortal}});
	t.regex(errorIn(await hub.call('mortal__die')).message, /mortal exited with code 7/);
	await until(() => logged(hub.running, 'upstream.lost').length >= 2);
	const isConnected = ({status, server: name}: {readonly [key: string]: unknown}): boolean =>
		status === 'SUCCESS' && name === 'mortal';
	await until(() => logged(hub.running, 'proxy.connect').filter(isConnected).length === 2);
	t.is(textIn(await hub.call('mortal__search', {query: 'x'})), '{"hits":["mortal: x"]}');
});

test('reports why a child exited during a run, also when the run starts with that call [U-P0-2]', async t => {
	const hub = await startHub(t, {servers: {wix: shop('wix')}});
	const text = textIn(await hub.call('run', {command: 'wix.die()'}));
	t.regex(text, /Server 'wix' unavailable: wix exited with code 7\./);
	await until(
		() => logged(hub.running, 'proxy.connect').filter(({status}) => status === 'SUCCESS').length >= 2,
	);
	t.regex(textIn(await hub.call('run', {command: 'wix.search(query="x")'})), /wix: x/);
});
