import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {teamOf} from '../mail/support.js';
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

test('redacts secrets of prompts, replies, mail, tags and errors in the registry, the audit log and stderr [S-D4]', async t => {
	const where = await place(t, 'app-server');
	where.configure('[plugins.codex-mcp]\nauto_mail = false\n');
	teamOf(t, {home: where.base, team: 'default'});
	const client = await startServe(t, where);
	for (const [at, secret] of secrets.entries()) {
		const identity = `agent-${at}`;
		const {isError, codexId} = await client.codex({prompt: `use ${secret} now`, identity, tag: secret});
		t.false(isError);
		const letter = {codex_id: codexId, to: 'dev-1', message: `use ${secret} now`, summary: secret};
		t.false((await client.call('atm_send', letter).result).isError);
		t.true((await client.call('atm_send', {...letter, to: `nobody ${secret}`}).result).isError);
		t.true((await client.codex({prompt: 'x', identity: `bad name ${secret}`})).isError);
	}
	const {length} = where.registry();
	t.is(length, secrets.length);
	t.true(where.registry().every(({last_text}) => String(last_text).includes('[redacted]')));
	const sent = where.audit().filter(({event_type: event}) => event === 'atm_send');
	t.is(sent.length, length);
	t.true(sent.every(({message_summary: text}) => String(text).includes('[redacted]')));
	t.is(await client.running.end(), 0);
	const sessions = join(where.base, '.config/atm/codex-sessions');
	t.false(allIn(sessions).includes(CANARY));
	t.false(client.running.stderr.includes(CANARY));
});
