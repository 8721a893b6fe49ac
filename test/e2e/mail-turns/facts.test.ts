import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {startServe} from '../serve/support.js';
import {isMail, mailPlace, until} from './place.js';

for (const kind of fakeKinds)
	test(`${kind}: audits a turn with mail with the senders, the ids and the start of the texts [S-D15]`, async t => {
		const at = await mailPlace(t, kind, 'mail_poll_interval_ms = 3600000');
		await at.post('a', 'PR is ready', {message_id: 'id-1', from: 'dev-1'});
		await at.post('a', 'x'.repeat(300), {message_id: 'id-2', from: 'dev-2', summary: 'Tests fail'});
		await at.post('a', 'password=hunter2hunter2', {message_id: 'id-3', from: 'dev-1'});
		const client = await startServe(t, at);
		await client.codex({prompt: 'say:1', identity: 'a'});
		await until(() => at.deliveries().length === 1);
		await client.running.end();
		const [started] = at.audit().filter(({details}) => objectOf(details).source === 'mail');
		t.like(started, {
			event_type: 'codex-reply',
			outcome: 'started',
			identity: 'a',
			prompt_summary: 'Mail from dev-1: PR is ready | dev-2: Tests fail | dev-1: password=[redacted]',
		});
		t.deepEqual(started?.details, {
			source: 'mail',
			senders: ['dev-1', 'dev-2'],
			message_ids: ['id-1', 'id-2', 'id-3'],
		});
	});

for (const hasTools of [true, false])
	test(`mail to an agent ${hasTools ? 'with mail tools refers' : 'without mail tools does not refer'} to them [S-D16]`, async t => {
		const at = await mailPlace(t, 'app-server', `atm_tools = ${hasTools}\nmax_message_length = 10`);
		await at.post('a', 'a message that is too long');
		const client = await startServe(t, at);
		await client.codex({prompt: 'say:1', identity: 'a'});
		await until(() => at.deliveries().length === 1);
		const prompt = at.prompts().find(isMail) ?? '';
		t.is(prompt.includes('atm_send'), hasTools, prompt);
		t.is(prompt.includes('atm_read'), hasTools, prompt);
		t.is(prompt.includes('you have no tools for mail'), !hasTools, prompt);
	});
