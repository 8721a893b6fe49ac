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

/** The text of all files in a folder. */
const allIn = (folder: string): string =>
	readdirSync(folder, {recursive: true, withFileTypes: true})
		.filter(entry => entry.isFile())
		.map(entry => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
		.join('\n');

test('redacts secrets of prompts, replies, mail, tags and errors in the registry, the audit log and stderr [S-D4]', async t => {
	const at = await place(t, 'app-server');
	at.configure('[plugins.codex-mcp]\nauto_mail = false\n');
	teamOf(t, {home: at.base, team: 'default'});
	const client = await startServe(t, at);
	for (const [index, secret] of secrets.entries()) {
		const identity = `agent-${index}`;
		const {isError, codexId} = await client.codex({prompt: `use ${secret} now`, identity, tag: secret});
		t.false(isError);
		const mail = {codex_id: codexId, to: 'dev-1', message: `use ${secret} now`, summary: secret};
		t.false((await client.call('atm_send', mail).result).isError);
		t.true((await client.call('atm_send', {...mail, to: `unknown ${secret}`}).result).isError);
		t.true((await client.codex({prompt: 'x', identity: `bad name ${secret}`})).isError);
	}
	const {length} = at.registry();
	t.is(length, secrets.length);
	t.true(at.registry().every(({last_text}) => String(last_text).includes('[redacted]')));
	const sent = at.audit().filter(({event_type: event}) => event === 'atm_send');
	t.is(sent.length, length);
	t.true(sent.every(({message_summary: text}) => String(text).includes('[redacted]')));
	t.is(await client.running.end(), 0);
	const sessions = join(at.base, '.config/atm/codex-sessions');
	t.false(allIn(sessions).includes(CANARY));
	t.false(client.running.stderr.includes(CANARY));
});
