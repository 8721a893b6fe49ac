import test from 'ava';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {startServe} from '../serve/support.js';
import {bodies, mailFigures, mailPlace, until} from './place.js';

for (const kind of fakeKinds)
	test(`${kind}: switches auto_mail on and off in a running Codex session [S-D7]`, async t => {
		const at = await mailPlace(t, kind);
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a', auto_mail: false});
		await at.post('a', 'one');
		await until(async () => (await mailFigures(client)).pending === 1);
		await client.reply(codexId, 'say:2');
		t.deepEqual(at.deliveries(), [], 'mail stays queued after a turn');
		await client.codex({codex_id: codexId, prompt: 'say:3', auto_mail: true});
		await until(() => at.deliveries().length === 1);
		await until(async () => (await mailFigures(client)).pending === 0);
		await client.codex({codex_id: codexId, prompt: 'say:4', auto_mail: false});
		await at.post('a', 'two');
		await until(async () => (await mailFigures(client)).pending === 1);
		await client.reply(codexId, 'say:5');
		t.deepEqual(bodies(at.deliveries()), [['one']]);
		t.is(await client.running.end(), 0);
	});
