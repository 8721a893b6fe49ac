import test from 'ava';
import {didYouMean} from '../../lib/util/did-you-mean.js';

const known = ['debug', 'log', 'log-level', 'timeout'];

for (const [word, expected] of [
	['debgu', 'Did you mean --debug?'],
	['debug', 'Did you mean --debug?'],
	['timeot', 'Did you mean --timeout?'],
	['logs', 'Did you mean --log?'],
	['loglevel', 'Did you mean --log-level?'],
	['lgo', 'Did you mean --log?'],
	['foo', ''],
	['completely-else', ''],
] as const)
	test(`suggests for ${word}: ${expected || 'nothing'}`, t => {
		t.is(didYouMean(word, known, '--'), expected);
	});

test('suggests nothing without candidates', t => {
	t.is(didYouMean('debug', []), '');
});

test('suggests words without a prefix', t => {
	t.is(didYouMean('gatway', ['gateway', 'hub']), 'Did you mean gateway?');
});

test('suggests nothing for a word over 64 characters [SEC-D12]', t => {
	const name = 'q'.repeat(64);
	t.is(didYouMean(`${name.slice(1)}x`, [name]), `Did you mean ${name}?`);
	t.is(didYouMean(`${name}q`, [name]), '');
	const many = Array.from({length: 1000}, (_, at) => `${name}${at}`);
	t.is(didYouMean('q'.repeat(2 ** 24), many), '');
});

test('compares only the first 1000 candidates [SEC-D12]', t => {
	const many = Array.from({length: 200_000}, (_, at) => `word-${at}`);
	t.is(didYouMean('word-99x', many), 'Did you mean word-99?');
	t.is(didYouMean('gatewayy', [...many, 'gateway']), '');
});
