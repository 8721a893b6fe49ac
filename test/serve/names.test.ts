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
	test(`1.5 ${name.slice(0, 40)} is a name`, t => {
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
	test(`1.5 H1 ${JSON.stringify(name).slice(0, 40)} is no name, and the error says why`, t => {
		const error = t.throws(() => checkName(name, 'identity'), {instanceOf: BridgeError});
		t.regex(error?.message ?? '', /cannot be the name of an identity: \w/);
		t.false(isSafeName(name));
	});

test('what is a name stays in its folder and has no path in it, whatever it is made of [H1]', t => {
	const wild = fc.oneof(fc.string({unit: 'binary'}), fc.stringMatching(/^[A-Za-z0-9._/\\-]{0,20}$/));
	fc.assert(
		fc.property(wild, text => {
			if (!isSafeName(text)) return;
			t.regex(text, /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/);
			t.false(text.includes('..'));
			t.is(new URL(`file:///root/${text}`).pathname, `/root/${text}`);
		}),
		{numRuns: 1000},
	);
});

test('1.5 a new identity has no dot, since its inbox would have another name elsewhere', t => {
	t.is(checkIdentity('dev-1'), 'dev-1');
	t.throws(() => checkIdentity('dev.1'), {message: /there is a dot in it/});
});

test('agent and agent@team are addresses, with space around the parts; all else is refused [FR-4.2]', t => {
	t.deepEqual(parseMailAddress('dev-1', 'red'), {agent: 'dev-1', team: 'red'});
	t.deepEqual(parseMailAddress(' dev-1 @ blue ', 'red'), {agent: 'dev-1', team: 'blue'});
	for (const text of ['', '@', 'a@', '@b', 'a@b@c', '../x@red', 'a@..'])
		t.throws(() => parseMailAddress(text, 'red'), {instanceOf: BridgeError}, text);
});

test('every pair of names makes an address that reads back as them [FR-4.2]', t => {
	const name = fc.stringMatching(/^[a-z0-9_][A-Za-z0-9_-]{0,20}$/).filter(isSafeName);
	fc.assert(
		fc.property(name, name, (agent, team) => {
			t.deepEqual(parseMailAddress(`${agent}@${team}`, 'other'), {agent, team});
		}),
	);
});
