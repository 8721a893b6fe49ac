import {existsSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import {sessionEntry} from '../../../fixtures/sessions/entry.js';
import {SessionRegistry} from '../../../lib/serve/sessions/session-registry.js';
import {tempFolder} from '../../helpers/temp-folder.js';
import {listeningLog, onDisk} from './support.js';

/** What may be done: by one of two that have the registry open, with one of a few sessions. */
type Step = {
	readonly what: 'put' | 'close' | 'remove' | 'reopen';
	readonly who: 0 | 1;
	readonly which: number;
};

const step: fc.Arbitrary<Step> = fc.record({
	what: fc.constantFrom('put', 'put', 'put', 'close', 'remove', 'reopen'),
	who: fc.constantFrom(0, 1),
	which: fc.nat(4),
});

/** What there should be: how many turns each session has, by its id. */
type Model = Map<string, number>;

const openIn = (folder: string): Promise<SessionRegistry> =>
	SessionRegistry.open({folder, team: 'red', log: listeningLog().log});

/** Does a step, and notes what comes of it. Each of the two has sessions of its own, as processes do. */
async function take(
	{what, who, which}: Step,
	at: number,
	folder: string,
	both: SessionRegistry[],
	model: Model,
): Promise<void> {
	const registry = both[who];
	const codex_id = `codex:${who}-${which}`;
	const identity = `dev-${who}-${which}`;
	if (what === 'reopen') {
		await registry?.close();
		both[who] = await openIn(folder);
		return;
	}
	if (what === 'remove') {
		await registry?.remove(codex_id);
		model.delete(codex_id);
		return;
	}
	await registry?.put(
		sessionEntry({codex_id, identity, status: what === 'put' ? 'active' : 'closed', turns: at}),
	);
	model.set(codex_id, at);
}

/** The same as it is on disk. */
const found = (folder: string): Model =>
	existsSync(join(folder, 'registry.json'))
		? new Map(onDisk(folder).sessions.map(({codex_id, turns}) => [String(codex_id), Number(turns)]))
		: new Map();

test('5.3 whatever two registries of one folder do, the file has what each was told last [FR-5.1] [FR-5.5]', async t => {
	const root = tempFolder(t);
	let run = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(step, {minLength: 1, maxLength: 14}), async steps => {
			const folder = join(root, `${run++}`);
			const both = [await openIn(folder), await openIn(folder)];
			const model: Model = new Map();
			for (const [at, each] of steps.entries()) {
				await take(each, at, folder, both, model);
				t.deepEqual(found(folder), model);
			}
			for (const registry of both) await registry.close();
		}),
		{numRuns: 25},
	);
});
