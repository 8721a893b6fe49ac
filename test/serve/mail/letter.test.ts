import test from 'ava';
import fc from 'fast-check';
import {mailPrompt} from '../../../lib/serve/mail/prompt.js';
import {firstCodePoints} from '../../../lib/util/code-points.js';
import {injections} from '../../e2e/mail-turns/injections.js';
import {message, openLetters} from '../../e2e/mail-turns/support.js';

const to = {identity: 'arch-ctm', team: 'atm-dev', hasTools: true, maxLength: 4096};

/** What could do more than be read. */
const unseen = /[^\P{Cc}\n\t]|[^\P{Cf}\u200c\u200d]|\p{Cs}|[\u2028\u2029]/u;

test('sender, time and id stand beside the text, and the text stands between marks [FR-8.4]', t => {
	const letters = [
		message({id: 'id-1', from: 'dev-1', text: 'PR ready\nLook at it.', summary: 'PR ready'}),
		message({id: 'id-2', from: 'qa', sourceTeam: 'other', text: 'Tests fail', isUrgent: true}),
		message({id: 'id-3', from: 'qa', sourceTeam: 'atm-dev', text: ''}),
	];
	const prompt = mailPrompt(letters, to);
	t.regex(prompt, /^3 messages have come for you, arch-ctm, from your team\./);
	t.regex(prompt, /It is data/);
	const timestamp = '2026-11-17T10:00:00.000Z';
	t.deepEqual(openLetters(prompt), [
		{
			header: {from: 'dev-1', timestamp, message_id: 'id-1', summary: 'PR ready'},
			body: 'PR ready\nLook at it.',
			cut: undefined,
		},
		{
			header: {from: 'qa@other', timestamp, message_id: 'id-2', urgent: true},
			body: 'Tests fail',
			cut: undefined,
		},
		{header: {from: 'qa', timestamp, message_id: 'id-3'}, body: '', cut: undefined},
	]);
	t.regex(mailPrompt(letters.slice(0, 1), to), /^1 message has come/);
});

test('the mark is another one in every turn, and none that is in a message [FR-8.4] [H10]', t => {
	const marks = ['in the text', 'in the id', 'in the name', 'in the summary', 'free'];
	const letters = [
		message({text: 'in the text'}),
		message({id: 'in the id'}),
		message({from: 'in the name'}),
		message({summary: 'in the summary'}),
	];
	const prompt = mailPrompt(letters, {...to, createFence: () => marks.shift() ?? ''});
	t.true(prompt.includes('[mail free 1 of 4]'));
	const fences = Array.from({length: 100}, () => /\[mail (\S+) 1 of/.exec(mailPrompt([message()], to))?.[1]);
	t.is(new Set(fences).size, 100);
	t.true(fences.every(fence => /^[\da-f]{32}$/.test(fence ?? '')));
});

test('a text is cut at so many code points, and the cut is seen [FR-8.5]', t => {
	const cutAt = (text: string) => openLetters(mailPrompt([message({text})], {...to, maxLength: 4}))[0];
	t.like(cutAt('abcd'), {body: 'abcd', cut: undefined}, 'exactly at the limit');
	t.like(cutAt('👍👍👍👍'), {body: '👍👍👍👍', cut: undefined}, 'eight units, four characters');
	t.like(cutAt('👍👍👍👍👍x'), {body: '👍👍👍👍'});
	t.regex(cutAt('👍👍👍👍👍x')?.cut ?? '', /^cut: 2 of 6 characters are left out; atm_read/);
	t.regex(cutAt('x'.repeat(2 ** 20))?.cut ?? '', /1048572 of 1048576/);
});

for (const [name, text] of injections)
	test(`inside of the envelope: ${name} [H10] [FR-8.4]`, t => {
		for (const hostile of [
			{text},
			{from: text},
			{summary: text},
			{id: text},
			{timestamp: text},
			{sourceTeam: text},
		]) {
			const prompt = mailPrompt([message({text: 'before'}), message(hostile), message({text: 'after'})], to);
			const bodies = openLetters(prompt).map(({body}) => body);
			t.is(bodies.length, 3);
			t.is(bodies[0], 'before');
			t.is(bodies[2], 'after');
			t.notRegex(prompt, unseen);
			t.true(prompt.length < 40_000, 'and no longer than it may be');
		}
	});

test('property: whatever is written, it stays in its place, and none of it is lost [H10]', t => {
	const piece = fc.oneof(
		fc.string({unit: 'binary'}),
		fc.constantFrom(...[...injections.values()].filter(text => text.length < 1000)),
		fc.constantFrom('\n', '\r', '[mail ', ' end of 1]', ' 2 of 2] {}'),
	);
	const text = fc.array(piece, {maxLength: 6}).map(pieces => pieces.join(''));
	const letter = fc.record({id: text, from: text, text, timestamp: text}).map(message);
	fc.assert(
		fc.property(
			fc.array(letter, {minLength: 1, maxLength: 4}),
			fc.integer({min: 1, max: 60}),
			(letters, maxLength) => {
				const prompt = mailPrompt(letters, {...to, maxLength});
				const opened = openLetters(prompt);
				t.is(opened.length, letters.length);
				t.notRegex(prompt, unseen);
				for (const [at, {body, cut}] of opened.entries()) {
					const whole = letters[at]?.text ?? '';
					const shown = firstCodePoints(whole, maxLength);
					t.is(cut !== undefined, shown !== whole);
					t.is(withoutEscapes(body), withoutEscapes(shown.replace(/\r\n?/g, '\n')));
				}
			},
		),
	);
});

/** A text without what is made visible, and without what looks as if it had been. */
const withoutEscapes = (text: string): string =>
	text.replace(/\\u[\da-f]{4}/g, '').replace(new RegExp(unseen.source, 'gu'), '');
