import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {readReplicaSecrets} from '../../../lib/gateway/cluster/secrets.js';
import {tempFolder} from '../../helpers/temp-folder.js';

const [OLD, NEW] = ['an old secret of some length', 'a new secret of some length'];

test('reads secrets from a text or a file, one per line [M2]', async t => {
	t.deepEqual(await readReplicaSecrets('a secret of some length'), ['a secret of some length']);
	t.deepEqual(await readReplicaSecrets(`${NEW}\n${OLD}\n`), [NEW, OLD]);
	const file = join(tempFolder(t), 'secret');
	writeFileSync(file, `${NEW} \r\n\r\n${OLD}\r\n`);
	t.deepEqual(await readReplicaSecrets(`file:${file}`), [NEW, OLD]);
});

test('rejects an empty secret, too many secrets and a missing file, without showing a secret [K2]', async t => {
	await t.throwsAsync(readReplicaSecrets('\n'), {message: /secret has 0 lines/});
	const error = await t.throwsAsync(
		readReplicaSecrets(['one', 'two', 'three', 'four', 'five'].map(word => `${word} ${OLD}`).join('\n')),
		{
			message: /secret has 5 lines/,
		},
	);
	t.notRegex(String(error?.message), /three/);
	await t.throwsAsync(readReplicaSecrets('file:/nowhere/at-all'), {message: /cannot be read/});
});

test('rejects a file with a secret of fewer than 16 characters, without showing it [SEC-D21] [U-P1-17]', async t => {
	const file = join(tempFolder(t), 'secret');
	writeFileSync(file, `${NEW}\nfifteen letters\n`);
	const error = await t.throwsAsync(readReplicaSecrets(`file:${file}`), {
		message: /fewer than 16 characters/,
	});
	t.true(error?.message.includes(file));
	t.notRegex(String(error?.message), /fifteen/);
	writeFileSync(file, `file:short\n`);
	await t.throwsAsync(readReplicaSecrets(`file:${file}`), {message: /fewer than 16 characters/});
});
