import test from 'ava';
import {isLoopback} from '../../lib/util/loopback.js';

for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '127.1.2.3', '::1', '[::1]'])
	test(`accepts ${host} as a loopback address`, t => {
		t.true(isLoopback(host));
	});

for (const host of [
	'',
	'0.0.0.0',
	'::',
	'[::]',
	'example.com',
	'128.0.0.1',
	'10.0.0.1',
	'localhost.example.com',
	'127.0.0.1.example.com',
	'notlocalhost',
	'::12',
])
	test(`does not accept ${host || 'an empty host'} as a loopback address`, t => {
		t.false(isLoopback(host));
	});
