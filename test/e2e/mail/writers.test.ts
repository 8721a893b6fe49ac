import test from 'ava';
import {eightWriters} from './writers.js';

test('eight writers, with the locks of Claude Code, ATM 0.x, ATM 1.x and ours, while mail is marked: none lost, none twice [H9]', async t => {
	t.timeout(170_000);
	await eightWriters(t, 12);
});
