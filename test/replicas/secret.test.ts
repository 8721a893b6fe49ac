import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {secretsOf} from '../../lib/replicas/secrets.js';
import {tempFolder} from '../store/temp-folder.js';

test('M2 a secret is a text, or a file; of several lines, the first seals', async t => {
	t.deepEqual(await secretsOf('a secret of some length'), ['a secret of some length']);
	t.deepEqual(await secretsOf('new\nold\n'), ['new', 'old']);
	const file = join(tempFolder(t), 'secret');
	writeFileSync(file, 'new \r\n\r\nold\r\n');
	t.deepEqual(await secretsOf(`file:${file}`), ['new', 'old']);
});

test('K2 a secret that is none is told of, and never shown', async t => {
	await t.throwsAsync(secretsOf('\n'), {message: /secret has 0 lines/});
	const error = await t.throwsAsync(secretsOf('one\ntwo\nthree\nfour\nfive'), {
		message: /secret has 5 lines/,
	});
	t.notRegex(String(error?.message), /three/);
	await t.throwsAsync(secretsOf('file:/nowhere/at-all'), {message: /cannot be read/});
});
