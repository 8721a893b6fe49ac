import test, {type ExecutionContext} from 'ava';
import {parsePortRule} from '../../lib/raw/port-rule.js';
import {PortRules} from '../../lib/raw/port-rules.js';
import {target} from './support.js';

const start = (t: ExecutionContext): PortRules => {
	const ports = new PortRules({accept: socket => socket.destroy(), onDropped: () => {}, onTrouble: () => {}});
	t.teardown(() => ports.close());
	return ports;
};

test('selects a free port for port 0 and returns it', async t => {
	const {port} = await start(t).add(parsePortRule('0:localhost:1'));
	t.true(port > 0);
});

test('rejects a port that is in use, and names it [I7]', async t => {
	const ports = start(t);
	const usedPort = await target(t, () => {});
	await t.throwsAsync(ports.add(parsePortRule(`${usedPort}:localhost:1`)), {
		code: 'ERR_CONFIG_INVALID',
		message: `Port ${usedPort} already in use.`,
	});
	t.false(ports.remove(usedPort));
});

test('rejects a second rule for the same port [I7]', async t => {
	const ports = start(t);
	const {port} = await ports.add(parsePortRule('0:localhost:1'));
	await t.throwsAsync(ports.add(parsePortRule(`${port}:localhost:2`)), {
		message: `Port ${port} already in use.`,
	});
	t.true(ports.remove(port));
	await t.notThrowsAsync(ports.add(parsePortRule(`${port}:localhost:2`)));
});

test('rejects a rule that returns to its own port [I7]', async t => {
	const ports = start(t);
	const {port} = await ports.add(parsePortRule('0:localhost:19999'));
	await t.throwsAsync(ports.add(parsePortRule(`19999:localhost:${port}`)), {
		message: /would forward to itself/,
	});
});

test('rejects an address that this machine does not have', async t => {
	await t.throwsAsync(start(t).add(parsePortRule('192.0.2.1:0:localhost:1')), {
		message: /no address 192\.0\.2\.1/,
	});
});
