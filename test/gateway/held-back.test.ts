import test from 'ava';
import {HeldBack} from '../../lib/gateway/held-back.js';

const MiB = 2 ** 20;

test('F2 a client whose server takes no more may say 8 MiB, and is taken again when the server is', t => {
	const client = {isHeldBack: true};
	const heldBack = new HeldBack();
	for (let at = 0; at < 8; at++) t.true(heldBack.take(client, MiB));
	t.false(heldBack.take(client, 1));
	t.true(heldBack.take({isHeldBack: true}, MiB), 'another client is not meant');
	client.isHeldBack = false;
	t.true(heldBack.take(client, MiB));
	client.isHeldBack = true;
	t.true(heldBack.take(client, MiB));
});

test('F2 nor may it say more than 1,024 things, however small', t => {
	const client = {isHeldBack: true};
	const heldBack = new HeldBack();
	for (let at = 0; at < 1024; at++) t.true(heldBack.take(client, 1));
	t.false(heldBack.take(client, 1));
});
