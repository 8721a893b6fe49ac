import test from 'ava';
import {eightWriters} from './writers.js';

test('loses and duplicates no message of eight writers with the locks of Claude Code, ATM 0.x, ATM 1.x and bridge [H9]', async t => {
	t.timeout(170_000);
	await eightWriters(t, 12);
});
