import test from 'ava';
import fc from 'fast-check';
import {isLoop, ruleFrom, ruleOf, targetText} from '../../lib/control/rule.js';

const rule = (host: string, port: number, targetHost: string, targetPort: number) => ({
	local: {host, port},
	target: {host: targetHost, port: targetPort},
});

for (const [text, expected] of [
	['8080:example.com:80', rule('127.0.0.1', 8080, 'example.com', 80)],
	['0:localhost:1', rule('127.0.0.1', 0, 'localhost', 1)],
	['0.0.0.0:8080:10.0.0.1:65535', rule('0.0.0.0', 8080, '10.0.0.1', 65_535)],
	['8080:[::1]:80', rule('127.0.0.1', 8080, '::1', 80)],
	['[::]:8080:[2001:db8::1]:80', rule('::', 8080, '2001:db8::1', 80)],
	['[fe80::1%eth0]:1:a_b-c.d:2', rule('fe80::1%eth0', 1, 'a_b-c.d', 2)],
	['localhost:9:h:9', rule('localhost', 9, 'h', 9)],
] as const)
	test(`reads ${text}`, t => {
		t.deepEqual(ruleOf(text), expected);
	});

for (const text of [
	...[
		'',
		'8080',
		'8080:host',
		':host:80',
		'8080::80',
		'8080:host:',
		'8080:host:http',
		'x:host:80',
		'-1:host:80',
	],
	...[
		'65536:host:80',
		'8080:host:0',
		'8080:host:65536',
		'8080:host:80:90:100',
		'8080:::1:80',
		'8080:[host]:80',
	],
	...['8080:ho st:80', '8080:host:80 ', '8080:-host:80', '1.5:host:80', '8080:[::1:80', '8080:host/x:80'],
])
	test(`reads no rule in ${JSON.stringify(text)}`, t => {
		t.throws(() => ruleOf(text), {code: 'ERR_CONFIG_INVALID'});
	});

test('never fails by anything but its own error', t => {
	fc.assert(
		fc.property(fc.string(), text => {
			try {
				ruleOf(text);
				t.pass();
			} catch (error) {
				t.is((error as {code?: string}).code, 'ERR_CONFIG_INVALID');
			}
		}),
	);
});

test('reads back what it would be written as', t => {
	const host = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6());
	const port = fc.integer({min: 1, max: 65_535});
	fc.assert(
		fc.property(port, host, port, (local, target, targetPort) => {
			const found = ruleFrom(local, target, targetPort);
			if (typeof found === 'string') return t.fail(found);
			t.deepEqual(found, rule('127.0.0.1', local, target, targetPort));
			t.deepEqual(ruleOf(`${local}:${targetText(found)}`), found);
			return;
		}),
	);
});

for (const [given, reason] of [
	[[0, 'h', 1], /local_port/],
	[[-1, 'h', 1], /local_port/],
	[[65_536, 'h', 1], /local_port/],
	[['80', 'h', 1], /local_port/],
	[[1.5, 'h', 1], /local_port/],
	[[undefined, 'h', 1], /local_port/],
	[[1, 'h', 0], /target_port/],
	[[1, 'h', '80'], /target_port/],
	[[1, '', 1], /target_host/],
	[[1, 7, 1], /target_host/],
	[[1, 'a b', 1], /target_host/],
	[[1, 'a:b', 1], /target_host/],
] as const)
	test(`I7 says why ${JSON.stringify(given)} is no rule`, t => {
		const [local, host, port] = given;
		t.regex(String(ruleFrom(local, host, port)), reason);
	});

test('I7 a rule that leads to its own port is a loop, be it by way of others', t => {
	t.true(isLoop(ruleOf('9000:localhost:9000'), []));
	t.true(isLoop(ruleOf('9000:[::1]:9001'), [ruleOf('9001:127.0.0.1:9002'), ruleOf('9002:0.0.0.0:9000')]));
	t.false(isLoop(ruleOf('9000:example.com:9000'), []));
	t.false(isLoop(ruleOf('9000:localhost:9001'), [ruleOf('9001:localhost:9002')]));
	t.false(isLoop(ruleOf('9000:localhost:9001'), [ruleOf('9001:localhost:9001')]));
});
