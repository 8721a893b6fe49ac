import test from 'ava';
import {allExpressions} from '../helpers/regular-expressions.js';
import {peerUrl} from './peers.js';

type Diagnostics = {
	readonly status: 'safe' | 'vulnerable' | 'unknown';
	readonly attack?: {readonly pattern: string};
};
type Recheck = {
	checkSync(source: string, flags: string, options: {readonly [limit: string]: number | null}): Diagnostics;
};

// The JavaScript version of recheck. It also finds polynomial patterns behind a fixed prefix, which scslre
// does not.
process.env.RECHECK_BACKEND = 'pure';
const {checkSync} = (await import(peerUrl('recheck/index.js').href)) as Recheck;

/** The time limit of recheck for one expression on a busy machine. */
const PATIENCE_MS = 600_000;

/**
 * Step limits apply instead: time limits depend on the load, and an expression that exceeds one counts as
 * slow.
 */
const untimed = {attackTimeout: null, incubationTimeout: null, seedingTimeout: null} as const;

/**
 * Returns a string that makes the expression slow, or undefined if it is safe. recheck does not support
 * the flags d and v.
 */
function attackOn({source, flags}: RegExp): string | undefined {
	const known = flags.replace('d', '').replace('v', 'u');
	const {status, attack} = checkSync(source, known, {timeout: PATIENCE_MS, ...untimed});
	return status === 'safe' ? undefined : (attack?.pattern ?? status);
}

test('recheck finds no string that makes a regular expression slow [SEC-D11]', async t => {
	const checked = new Set<string>();
	for (const {file, literals} of await allExpressions())
		for (const literal of literals) {
			if (checked.has(String(literal))) continue;
			checked.add(String(literal));
			t.is(attackOn(literal), undefined, `${file}: ${literal}`);
		}
	t.true(checked.size > 200, `${checked.size} expressions were found`);
});

for (const planted of [/x=\s*\s*y/, /^foo\d+\d+!/, /foo[a-z]*bar[a-z]*!/])
	test(`recheck finds a string that makes ${planted} slow [SEC-D11]`, t => {
		t.is(typeof attackOn(planted), 'string');
	});
