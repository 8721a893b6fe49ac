import test from 'ava';
import {BackpressureLimit} from '../../lib/gateway/backpressure-limit.js';

const MiB = 2 ** 20;

test('buffers up to 8 MiB for a client under backpressure, and resets when backpressure ends [F2]', t => {
	const client = {isBackpressured: true};
	const limit = new BackpressureLimit();
	for (let at = 0; at < 8; at++) t.true(limit.reserve(client, MiB));
	t.false(limit.reserve(client, 1));
	t.true(limit.reserve({isBackpressured: true}, MiB), 'other clients are not affected');
	client.isBackpressured = false;
	t.true(limit.reserve(client, MiB));
	client.isBackpressured = true;
	t.true(limit.reserve(client, MiB));
});

test('buffers up to 1,024 messages for a client under backpressure, whatever their size [F2]', t => {
	const client = {isBackpressured: true};
	const limit = new BackpressureLimit();
	for (let at = 0; at < 1024; at++) t.true(limit.reserve(client, 1));
	t.false(limit.reserve(client, 1));
});
