import test from 'ava';
import {eightWriters} from '../e2e/mail/writers.js';

test.serial(
	'eight writers of 500 messages each lose and duplicate none while mail is marked as read [H9]',
	async t => {
		t.timeout(900_000);
		await eightWriters(t, 500);
	},
);
