import test from 'ava';
import {nearest} from '../lib/nearest.js';

const known = ['debug', 'log', 'log-level', 'timeout'];

for (const [word, expected] of [
	['debgu', 'Did you mean --debug?'],
	['debug', 'Did you mean --debug?'],
	['timeot', 'Did you mean --timeout?'],
	['logs', 'Did you mean --log?'],
	['loglevel', 'Did you mean --log-level?'],
	['completely-else', ''],
] as const)
	test(`finds for ${word}: ${expected || 'nothing'}`, t => {
		t.is(nearest(word, known, '--'), expected);
	});

test('finds nothing where nothing is known', t => {
	t.is(nearest('debug', []), '');
});

test('names words without a prefix as they are', t => {
	t.is(nearest('gatway', ['gateway', 'hub']), 'Did you mean gateway?');
});
