import test from 'ava';
import {createPortRule} from '../../lib/raw/port-rule.js';

for (const [host, expected] of [
	['example.com', 'example.com'],
	['::1', '::1'],
	['fe80::1', 'fe80::1'],
	['127.0.0.1', '127.0.0.1'],
] as const)
	test(`a rule may lead to ${host}`, t => {
		t.like(createPortRule(8080, host, 80), {target: {host: expected, port: 80}});
	});

for (const host of [
	':'.repeat(2 ** 20),
	`${':'.repeat(2 ** 20)}x`,
	'a'.repeat(2 ** 20),
	'.'.repeat(2 ** 20),
	'',
])
	test(`a host of ${host.length} ${host.slice(-2)} is checked in linear time [SEC-D11]`, t => {
		const rule = createPortRule(8080, `${host}!`, 80);
		t.is(rule, 'target_host has to be the name or address of a host');
		t.is(typeof createPortRule(8080, host, 80) === 'string', !host.startsWith('a'));
	});
