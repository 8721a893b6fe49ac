import {appendFile, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {runBridge} from '../helpers/bridge.js';
import {codexKinds} from './codex-clients.js';
import {processesWith} from './processes.js';
import {replyWith} from './scripted-model.js';
import {RealClient, type ServePlace, servePlace} from './serve-client.js';

/** The Codex programs with this home. A second `bridge serve` would start another one. */
async function codexesOf({home}: ServePlace): Promise<string[]> {
	const pids = await processesWith(home.folder);
	const lines = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
	return lines.filter(line => line.split('\0')[0]?.endsWith('/codex'));
}

for (const kind of codexKinds)
	test.serial(
		`${kind}: neither a new nor a resumed session starts the entry of bridge install codex [S-D18]`,
		async t => {
			const at = await servePlace(t, kind);
			const {code, stderr} = await runBridge(['install', 'codex', 'helper', '--yes'], '', {
				cwd: at.repo,
				env: at.env,
			});
			t.is(code, 0, stderr);
			// A thread waits for required servers, so a started server is detected.
			await appendFile(join(at.home.folder, 'config.toml'), 'required = true\n');
			const client = await RealClient.start(t, at);
			const first = await client.codex({prompt: replyWith('ONE'), identity: 'arch'});
			t.is(first.structured.content, 'ONE', first.text);
			t.deepEqual(at.model.toolsOf('helper'), []);
			t.is((await codexesOf(at)).length, 1);
			await client.closeInput();
			const again = await RealClient.start(t, at);
			const second = await again.codex({prompt: replyWith('TWO'), codex_id: first.codexId});
			t.is(second.structured.content, 'TWO', second.text);
			t.deepEqual(at.model.toolsOf('helper'), []);
			t.is((await codexesOf(at)).length, 1);
		},
	);
