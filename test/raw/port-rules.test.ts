import test, {type ExecutionContext} from 'ava';
import {parsePortRule} from '../../lib/raw/port-rule.js';
import {PortRules} from '../../lib/raw/port-rules.js';
import {target} from './support.js';

const start = (t: ExecutionContext): PortRules => {
	const ports = new PortRules({accept: socket => socket.destroy(), onDropped: () => {}, onTrouble: () => {}});
	t.teardown(() => ports.close());
	return ports;
};

test('takes a port that is free where none is named, and says which', async t => {
	const {port} = await start(t).add(parsePortRule('0:localhost:1'));
	t.true(port > 0);
});

test('a port that is taken is an error that names it, and changes nothing [I7]', async t => {
	const ports = start(t);
	const taken = await target(t, () => {});
	await t.throwsAsync(ports.add(parsePortRule(`${taken}:localhost:1`)), {
		code: 'ERR_CONFIG_INVALID',
		message: `Port ${taken} already in use.`,
	});
	t.false(ports.remove(taken));
});

test('the same port twice is an error [I7]', async t => {
	const ports = start(t);
	const {port} = await ports.add(parsePortRule('0:localhost:1'));
	await t.throwsAsync(ports.add(parsePortRule(`${port}:localhost:2`)), {
		message: `Port ${port} already in use.`,
	});
	t.true(ports.remove(port));
	await t.notThrowsAsync(ports.add(parsePortRule(`${port}:localhost:2`)));
});

test('a rule that comes back to its own port is refused [I7]', async t => {
	const ports = start(t);
	const {port} = await ports.add(parsePortRule('0:localhost:19999'));
	await t.throwsAsync(ports.add(parsePortRule(`19999:localhost:${port}`)), {
		message: /would forward to itself/,
	});
});

test('an address that this machine does not have is an error that says so', async t => {
	await t.throwsAsync(start(t).add(parsePortRule('192.0.2.1:0:localhost:1')), {
		message: /no address 192\.0\.2\.1/,
	});
});
