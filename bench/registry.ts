// npm run bench:registry: the cost of saving, listing and finding sessions, and of writing an audit line.
// See README.md.

import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {sessionEntry} from '../fixtures/sessions/entry.js';
import {createLog} from '../lib/core/log.js';
import {writeAtomically} from '../lib/files/atomic-write.js';
import {stateFolder} from '../lib/serve/paths.js';
import {AuditFile} from '../lib/serve/sessions/audit-file.js';
import {inspectTeam} from '../lib/serve/sessions/inspect-team.js';
import {SessionRegistry} from '../lib/serve/sessions/session-registry.js';
import type {SessionEntry} from '../lib/serve/sessions/types.js';

const SESSIONS = 1000;
const ROUNDS = 100;
const TEAM = 'bench';

const print = (line: string): void => {
	process.stdout.write(`${line}\n`);
};

const log = createLog({level: 'error', write: line => process.stderr.write(line), isPretty: false});

/** Times in ms over the rounds: the median and the 99th percentile. */
const measure = async (name: string, rounds: number, work: (round: number) => unknown): Promise<void> => {
	const times: number[] = [];
	for (let round = 0; round < rounds; round++) {
		const start = performance.now();
		await work(round);
		times.push(performance.now() - start);
	}
	times.sort((one, other) => one - other);
	const at = (share: number): string => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(3);
	print(`${name.padEnd(52)} p50 ${at(0.5).padStart(9)} ms   p99 ${at(0.99).padStart(9)} ms`);
};

const numbered = (at: number): SessionEntry =>
	sessionEntry({
		codex_id: `codex:${at}`,
		identity: `dev-${at}`,
		team: TEAM,
		status: 'closed',
		last_text: 'All tests pass now; the parser has a case for empty lines. '.repeat(3),
	});

const base = mkdtempSync(join(tmpdir(), 'bridge-bench-registry-'));
const folder = stateFolder(base, TEAM);
mkdirSync(folder, {recursive: true, mode: 0o700});
try {
	const registry = await SessionRegistry.open({folder, team: TEAM, log});
	await Promise.all(Array.from({length: SESSIONS}, (_, at) => registry.put(numbered(at))));
	const live = sessionEntry({team: TEAM, codex_id: 'codex:live'});
	await registry.reserve('arch-ctm', live.codex_id);
	const file = 'x'.repeat(500_000);
	await measure('write 500 kB atomically, for comparison', ROUNDS, () =>
		writeAtomically(join(base, 'x'), file),
	);
	await measure(`save one change of ${SESSIONS} sessions`, ROUNDS, turns => registry.put({...live, turns}));
	await measure('100 concurrent changes until saved', ROUNDS / 5, round =>
		Promise.all(Array.from({length: 100}, (_, at) => registry.put({...numbered(at), turns: round}))),
	);
	await measure('put without waiting for the disk', ROUNDS, turns => {
		registry.put({...live, turns}).catch(() => {});
	});
	await registry.flush();
	await measure(`list ${SESSIONS} sessions from the file`, ROUNDS, () => inspectTeam(base, TEAM));
	await measure(`list ${SESSIONS} sessions of an open registry`, ROUNDS, () => registry.entries());
	await measure('find a session by identity', ROUNDS, () => registry.find('dev-7'));
	await measure('lock an identity and release it', ROUNDS, async () => {
		await registry.reserve('dev-1', 'codex:1');
		await registry.release('dev-1');
	});
	await registry.close();
	await measure(`open a registry of ${SESSIONS} sessions`, ROUNDS / 5, async () => {
		await (await SessionRegistry.open({folder, team: TEAM, log})).close();
	});
	const audit = await AuditFile.open({folder: base, log});
	const prompt = 'Look at the tests of the parser and mend what is broken. '.repeat(10);
	await measure('write an audit line', ROUNDS * 20, round =>
		audit.write({event: 'codex', correlationId: `${round}`, codexId: 'codex:1', identity: 'dev-1', prompt}),
	);
	await audit.close();
} finally {
	rmSync(base, {recursive: true, force: true});
}
