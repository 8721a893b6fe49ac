import process from 'node:process';
import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {childrenOf, place, startServe} from './support.js';

for (const kind of fakeKinds) {
	test(`${kind}: the error of a turn that ended with Codex contains the codex_id and the partial text [S-D11]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const prompt = 'slow\nsay:HALF OF THE TEXT\nstream:1';
		const slow = client.call('codex', {prompt, identity: 'a'}, {progressToken: 'p'}).result;
		await client.running.message(({params}) => objectOf(params).message === 'Writing a message');
		const {codex_id: codexId} = await client.busy('a');
		const [codex = 0] = childrenOf(client.running.pid);
		process.kill(codex, 'SIGKILL');
		const {text, error} = await slow;
		t.like(error, {
			code: -32005,
			signal: 'SIGKILL',
			codex_id: codexId,
			identity: 'a',
			partial: 'HALF OF THE TEXT',
		});
		t.regex(text, /^codex was ended by SIGKILL/);
		t.true(text.includes('Its output until then:\n\nHALF OF THE TEXT\n'), text);
		t.true(text.includes(`codex with codex_id ${codexId} then resumes the session.`), text);
	});

	test(`${kind}: reports the stderr of an exited Codex once, truncated and without control characters [S-D11]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const prompt = `crash:7\nstderr:thread panicked${'!'.repeat(2000)} end of panic`;
		const {text} = await client.codex({prompt, identity: 'a'});
		t.regex(text, /^codex exited with code 7(?:.|\n)*\nThe end of its stderr: …!+ end of panic\n/);
		for (const sequence of ['\u001b', '\\x1b', '[31m', '[0m']) t.false(text.includes(sequence), text);
		t.true(text.length < 1200, text);
		for (const identity of ['b', 'c']) {
			const later = await client.codex({prompt: 'x', identity});
			t.is(later.error.code, -32005);
			t.notRegex(later.text, /panic|stderr/);
		}
	});
}

test('reports the stderr of an exited Codex in the first call when no turn ran [S-D11]', async t => {
	const client = await startServe(t, await place(t, 'app-server', '--words=config.toml is broken\n'));
	const [codex = 0] = childrenOf(client.running.pid);
	process.kill(codex, 'SIGKILL');
	await client.running.says(/codex\.gone/);
	t.regex(
		(await client.codex({prompt: 'x'})).text,
		/SIGKILL(?:.|\n)*\nThe end of its stderr: config\.toml is broken\n/,
	);
	t.notRegex((await client.codex({prompt: 'x'})).text, /config\.toml/);
});
