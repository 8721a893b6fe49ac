import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {place, startServe} from './support.js';

const CANARY = 'Zq7Canary0123456789abcdefghijklmnopqrstu';
const secrets = [
	`aws_secret_access_key=${CANARY}`,
	`-----BEGIN PRIVATE KEY-----\n${CANARY}\n-----END PRIVATE KEY-----`,
	`glpat-${CANARY}`,
	`AIza${CANARY}`,
	`sk_live_${CANARY}`,
	`npm_${CANARY}`,
];

/** All that is on disk, as one text. */
const allIn = (folder: string): string =>
	readdirSync(folder, {recursive: true, withFileTypes: true})
		.filter(entry => entry.isFile())
		.map(entry => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
		.join('\n');

test('secrets in prompts, replies, tags and errors are in neither the registry nor the audit log nor stderr', async t => {
	const where = await place(t, 'app-server');
	const client = await startServe(t, where);
	for (const [at, secret] of secrets.entries()) {
		const identity = `agent-${at}`;
		t.false((await client.codex({prompt: `use ${secret} now`, identity, tag: secret})).isError);
		t.true((await client.codex({prompt: 'x', identity: `bad name ${secret}`})).isError);
	}
	const {length} = where.registry();
	t.is(length, secrets.length);
	t.true(where.registry().every(({last_text}) => String(last_text).includes('[redacted]')));
	t.true(where.audit().length > length);
	t.is(await client.running.end(), 0);
	const sessions = join(where.base, '.config/atm/codex-sessions');
	t.false(allIn(sessions).includes(CANARY));
	t.false(client.running.stderr.includes(CANARY));
});
