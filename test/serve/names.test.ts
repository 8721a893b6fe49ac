import test from 'ava';
import fc from 'fast-check';
import {BridgeError} from '../../lib/core/errors.js';
import {checkIdentity, checkName, isSafeName, parseMailAddress} from '../../lib/serve/names.js';

for (const name of [
	'arch-ctm',
	'dev_1',
	'a',
	'team-lead',
	'v1.2',
	'0199a213-81c0-7800-8aa1-bbab2a035a53',
	'x'.repeat(128),
])
	test(`accepts ${name.slice(0, 40)} as a name [1.5]`, t => {
		t.is(checkName(name, 'team'), name);
	});

for (const name of [
	'',
	'.',
	'..',
	'.a',
	'a.',
	'a..b',
	'a/b',
	'a\\b',
	'a b',
	'a@b',
	'ä',
	'a\0',
	'a\n',
	'-rf',
	'CON',
	'con.txt',
	'Lpt1',
	'x'.repeat(129),
	'\u202eabc',
])
	test(`rejects ${JSON.stringify(name).slice(0, 40)} as a name, with the reason [1.5] [H1]`, t => {
		const error = t.throws(() => checkName(name, 'identity'), {instanceOf: BridgeError});
		t.regex(error?.message ?? '', /is not a valid identity: \w/);
		t.false(isSafeName(name));
	});

test('every accepted name is a single path segment [H1]', t => {
	const text = fc.oneof(fc.string({unit: 'binary'}), fc.stringMatching(/^[A-Za-z0-9._/\\-]{0,20}$/));
	fc.assert(
		fc.property(text, name => {
			if (!isSafeName(name)) return;
			t.regex(name, /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/);
			t.false(name.includes('..'));
			t.is(new URL(`file:///root/${name}`).pathname, `/root/${name}`);
		}),
		{numRuns: 1000},
	);
});

test('rejects a new identity with a dot, which other programs replace in the name of its inbox [1.5]', t => {
	t.is(checkIdentity('dev-1'), 'dev-1');
	t.throws(() => checkIdentity('dev.1'), {message: /it contains a dot/});
});

test('parses agent and agent@team with spaces around the parts, and rejects other addresses [FR-4.2]', t => {
	t.deepEqual(parseMailAddress('dev-1', 'red'), {agent: 'dev-1', team: 'red'});
	t.deepEqual(parseMailAddress(' dev-1 @ blue ', 'red'), {agent: 'dev-1', team: 'blue'});
	for (const text of ['', '@', 'a@', '@b', 'a@b@c', '../x@red', 'a@..'])
		t.throws(() => parseMailAddress(text, 'red'), {instanceOf: BridgeError}, text);
});

test('parses the address of every valid agent and team [FR-4.2]', t => {
	const name = fc.stringMatching(/^[a-z0-9_][A-Za-z0-9_-]{0,20}$/).filter(isSafeName);
	fc.assert(
		fc.property(name, name, (agent, team) => {
			t.deepEqual(parseMailAddress(`${agent}@${team}`, 'other'), {agent, team});
		}),
	);
});
