import test from 'ava';
import {program, startGateway} from '../../helpers/gateway.js';
import {newMarker, until} from '../../helpers/program.js';
import {shop, startHub} from '../hub/support.js';

/** The labels of the trace lines with this arrow and title. */
const labelsOf = ({stderr}: {readonly stderr: string}, arrow: string, title: string): string[] =>
	stderr
		.split('\n')
		.filter(line => line.includes(` ${arrow} ${title} `))
		.map(line => line.split(' ')[1] ?? '');

test('gateway --debug shows the service and the session of each line [A-D5] [U-P1-12]', async t => {
	const servers = {one: program('puppet', newMarker(t)), two: program('puppet', newMarker(t))};
	const gateway = await startGateway(t, {servers}, {args: ['--debug']});
	for (const service of ['one', 'two', 'one']) await gateway.open(service);
	await until(() => labelsOf(gateway.running, '←', 'initialize').length === 3);
	const labels = labelsOf(gateway.running, '→', 'initialize');
	t.deepEqual(
		labels.map(label => label.replace(/#\d+$/, '')),
		['one', 'two', 'one'],
	);
	t.is(new Set(labels).size, 3, 'two sessions of one service have different labels');
	t.deepEqual(labelsOf(gateway.running, '←', 'initialize'), labels);
});

test('the trace of a hub distinguishes traffic of its client from that of its upstreams [A-D5]', async t => {
	const hub = await startHub(t, {expose: 'tools', servers: {wix: shop('wix')}}, {args: ['--debug']});
	await hub.call('wix__echo', {value: 1});
	await until(() => labelsOf(hub.running, '←', 'tools/call echo').length > 0);
	t.regex(labelsOf(hub.running, '→', 'tools/call wix__echo').join(), /^hub#\d+$/);
	t.regex(labelsOf(hub.running, '→', 'tools/call echo').join(), /^hub\/wix#\d+$/);
});

test('/mcp and /mcp/{service} have separate labels in the trace [A-D5]', async t => {
	const gateway = await startGateway(t, {servers: {wix: shop('wix')}}, {args: ['--debug']});
	await gateway.open('wix');
	await gateway.open('');
	await until(() => labelsOf(gateway.running, '←', 'initialize').length === 3);
	const names = labelsOf(gateway.running, '→', 'initialize').map(label => label.replace(/#\d+$/, ''));
	t.deepEqual(new Set(names), new Set(['wix', 'hub', 'hub/wix']));
});
