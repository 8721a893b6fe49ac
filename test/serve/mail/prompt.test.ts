import test from 'ava';
import fc from 'fast-check';
import {mailPrompt} from '../../../lib/serve/mail/prompt.js';
import {firstCodePoints} from '../../../lib/util/code-points.js';
import {injections} from '../../e2e/mail-turns/injections.js';
import {message, parseMailPrompt} from '../../e2e/mail-turns/support.js';

const to = {identity: 'arch-ctm', team: 'atm-dev', hasTools: true, maxLength: 4096};

/** Characters that are invisible or control the terminal. */
const invisible = /[^\P{Cc}\n\t]|[^\P{Cf}\u200c\u200d]|\p{Cs}|[\u2028\u2029]/u;

test('shows sender, time and id with each text, and encloses the text in delimiters [FR-8.4]', t => {
	const messages = [
		message({id: 'id-1', from: 'dev-1', text: 'PR ready\nLook at it.', summary: 'PR ready'}),
		message({id: 'id-2', from: 'qa', sourceTeam: 'other', text: 'Tests fail', isUrgent: true}),
		message({id: 'id-3', from: 'qa', sourceTeam: 'atm-dev', text: ''}),
	];
	const prompt = mailPrompt(messages, to);
	t.regex(prompt, /^3 messages have arrived for you, arch-ctm, from your team\./);
	t.regex(prompt, /It is data/);
	const timestamp = '2026-11-17T10:00:00.000Z';
	t.deepEqual(parseMailPrompt(prompt), [
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
	t.regex(mailPrompt(messages.slice(0, 1), to), /^1 message has arrived/);
});

test('uses a new delimiter for each turn that no message contains [FR-8.4] [H10]', t => {
	const fences = ['in the text', 'in the id', 'in the name', 'in the summary', 'free'];
	const messages = [
		message({text: 'in the text'}),
		message({id: 'in the id'}),
		message({from: 'in the name'}),
		message({summary: 'in the summary'}),
	];
	const prompt = mailPrompt(messages, {...to, createFence: () => fences.shift() ?? ''});
	t.true(prompt.includes('[mail free 1 of 4]'));
	const randomFences = Array.from(
		{length: 100},
		() => /\[mail (\S+) 1 of/.exec(mailPrompt([message()], to))?.[1],
	);
	t.is(new Set(randomFences).size, 100);
	t.true(randomFences.every(fence => /^[\da-f]{32}$/.test(fence ?? '')));
});

test('truncates a text at a number of code points, and reports the truncation [FR-8.5]', t => {
	const truncated = (text: string) =>
		parseMailPrompt(mailPrompt([message({text})], {...to, maxLength: 4}))[0];
	t.like(truncated('abcd'), {body: 'abcd', cut: undefined}, 'exactly at the limit');
	t.like(truncated('👍👍👍👍'), {body: '👍👍👍👍', cut: undefined}, 'eight units, four characters');
	t.like(truncated('👍👍👍👍👍x'), {body: '👍👍👍👍'});
	t.regex(truncated('👍👍👍👍👍x')?.cut ?? '', /^cut: 2 of 6 characters were omitted; atm_read/);
	t.regex(truncated('x'.repeat(2 ** 20))?.cut ?? '', /1048572 of 1048576/);
});

for (const [name, text] of injections)
	test(`keeps an injection inside its message: ${name} [H10] [FR-8.4]`, t => {
		for (const hostile of [
			{text},
			{from: text},
			{summary: text},
			{id: text},
			{timestamp: text},
			{sourceTeam: text},
		]) {
			const prompt = mailPrompt([message({text: 'before'}), message(hostile), message({text: 'after'})], to);
			const bodies = parseMailPrompt(prompt).map(({body}) => body);
			t.is(bodies.length, 3);
			t.is(bodies[0], 'before');
			t.is(bodies[2], 'after');
			t.notRegex(prompt, invisible);
			t.true(prompt.length < 40_000, 'within the limit');
		}
	});

test('property: keeps any text inside its delimiters, without loss [H10]', t => {
	const piece = fc.oneof(
		fc.string({unit: 'binary'}),
		fc.constantFrom(...[...injections.values()].filter(text => text.length < 1000)),
		fc.constantFrom('\n', '\r', '[mail ', ' end of 1]', ' 2 of 2] {}'),
	);
	const text = fc.array(piece, {maxLength: 6}).map(pieces => pieces.join(''));
	const messageArbitrary = fc.record({id: text, from: text, text, timestamp: text}).map(message);
	fc.assert(
		fc.property(
			fc.array(messageArbitrary, {minLength: 1, maxLength: 4}),
			fc.integer({min: 1, max: 60}),
			(messages, maxLength) => {
				const prompt = mailPrompt(messages, {...to, maxLength});
				const opened = parseMailPrompt(prompt);
				t.is(opened.length, messages.length);
				t.notRegex(prompt, invisible);
				for (const [at, {body, cut}] of opened.entries()) {
					const whole = messages[at]?.text ?? '';
					const shown = firstCodePoints(whole, maxLength);
					t.is(cut !== undefined, shown !== whole);
					t.is(withoutEscapes(body), withoutEscapes(shown.replace(/\r\n?/g, '\n')));
				}
			},
		),
	);
});

/** A text without invisible characters and without escapes. */
const withoutEscapes = (text: string): string =>
	text.replace(/\\u[\da-f]{4}/g, '').replace(new RegExp(invisible.source, 'gu'), '');
