import test from 'ava';
import {createPortRule} from '../../lib/raw/port-rule.js';

for (const [host, expected] of [
	['example.com', 'example.com'],
	['::1', '::1'],
	['fe80::1', 'fe80::1'],
	['127.0.0.1', '127.0.0.1'],
] as const)
	test(`accepts the target ${host}`, t => {
		t.like(createPortRule(8080, host, 80), {target: {host: expected, port: 80}});
	});

for (const host of [
	':'.repeat(2 ** 20),
	`${':'.repeat(2 ** 20)}x`,
	'a'.repeat(2 ** 20),
	'.'.repeat(2 ** 20),
	'',
])
	test(`checks a host of ${host.length} ${host.slice(-2)} in linear time [SEC-D11]`, t => {
		const rule = createPortRule(8080, `${host}!`, 80);
		t.is(rule, 'target_host has to be the name or address of a host');
		t.is(typeof createPortRule(8080, host, 80) === 'string', !host.startsWith('a'));
	});
