import {existsSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import {sessionEntry} from '../../../fixtures/sessions/entry.js';
import {SessionRegistry} from '../../../lib/serve/sessions/session-registry.js';
import {tempFolder} from '../../helpers/temp-folder.js';
import {onDisk, recordingLog} from './support.js';

type Step = {
	readonly action: 'put' | 'close' | 'remove' | 'reopen';
	readonly registryIndex: 0 | 1;
	readonly sessionIndex: number;
};

const step: fc.Arbitrary<Step> = fc.record({
	action: fc.constantFrom('put', 'put', 'put', 'close', 'remove', 'reopen'),
	registryIndex: fc.constantFrom(0, 1),
	sessionIndex: fc.nat(4),
});

/** The expected number of turns of each session, by id. */
type Model = Map<string, number>;

const openIn = (folder: string): Promise<SessionRegistry> =>
	SessionRegistry.open({folder, team: 'red', log: recordingLog().log});

/** Runs a step on a registry and on the model. Each registry has its own sessions, like a process. */
async function runStep(
	{action, registryIndex, sessionIndex}: Step,
	turns: number,
	folder: string,
	both: SessionRegistry[],
	model: Model,
): Promise<void> {
	const registry = both[registryIndex];
	const codex_id = `codex:${registryIndex}-${sessionIndex}`;
	const identity = `dev-${registryIndex}-${sessionIndex}`;
	if (action === 'reopen') {
		await registry?.close();
		both[registryIndex] = await openIn(folder);
		return;
	}
	if (action === 'remove') {
		await registry?.remove(codex_id);
		model.delete(codex_id);
		return;
	}
	await registry?.put(
		sessionEntry({codex_id, identity, status: action === 'put' ? 'active' : 'closed', turns}),
	);
	model.set(codex_id, turns);
}

/** Reads the number of turns of each session from the file. */
const turnsOnDisk = (folder: string): Model =>
	existsSync(join(folder, 'registry.json'))
		? new Map(onDisk(folder).sessions.map(({codex_id, turns}) => [String(codex_id), Number(turns)]))
		: new Map();

test('the file has the latest changes of both registries after each step [5.3] [FR-5.1] [FR-5.5]', async t => {
	const root = tempFolder(t);
	let run = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(step, {minLength: 1, maxLength: 14}), async steps => {
			const folder = join(root, `${run++}`);
			const both = [await openIn(folder), await openIn(folder)];
			const model: Model = new Map();
			for (const [index, each] of steps.entries()) {
				await runStep(each, index, folder, both, model);
				t.deepEqual(turnsOnDisk(folder), model);
			}
			for (const registry of both) await registry.close();
		}),
		{numRuns: 25},
	);
});
