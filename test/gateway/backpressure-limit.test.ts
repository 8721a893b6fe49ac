import test from 'ava';
import {BackpressureLimit} from '../../lib/gateway/backpressure-limit.js';

const MiB = 2 ** 20;

test('a client whose server takes no more may say 8 MiB, and is taken again when the server is [F2]', t => {
	const client = {isBackpressured: true};
	const heldBack = new BackpressureLimit();
	for (let at = 0; at < 8; at++) t.true(heldBack.reserve(client, MiB));
	t.false(heldBack.reserve(client, 1));
	t.true(heldBack.reserve({isBackpressured: true}, MiB), 'another client is not meant');
	client.isBackpressured = false;
	t.true(heldBack.reserve(client, MiB));
	client.isBackpressured = true;
	t.true(heldBack.reserve(client, MiB));
});

test('nor may it say more than 1,024 things, however small [F2]', t => {
	const client = {isBackpressured: true};
	const heldBack = new BackpressureLimit();
	for (let at = 0; at < 1024; at++) t.true(heldBack.reserve(client, 1));
	t.false(heldBack.reserve(client, 1));
});
