import test from 'ava';
import fc from 'fast-check';
import {redactKnownSecrets} from '../../lib/core/known-secrets.js';
import {REDACTED, redactStart, redactText} from '../../lib/core/redact.js';

const AWS = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const PEM = `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${'MIIEow+/'.repeat(200)}\n-----END RSA PRIVATE KEY-----`;

for (const [text, expected] of [
	[`aws_secret_access_key = ${AWS}`, 'aws_secret_access_key = [redacted]'],
	[`AWS_SECRET_ACCESS_KEY=${AWS} next`, 'AWS_SECRET_ACCESS_KEY=[redacted] next'],
	[`{"SecretAccessKey":"${AWS}"}`, '{"SecretAccessKey":[redacted]}'],
	[`secret_key: ${AWS}`, 'secret_key: [redacted]'],
	[`AKIAIOSFODNN7EXAMPLE:${AWS} ok`, '[redacted] ok'],
	['ASIAIOSFODNN7EXAMPLE only', '[redacted] only'],
	[`before\n${PEM}\nafter`, 'before\n[redacted]\nafter'],
	[JSON.stringify({key: PEM}), '{"key":"[redacted]"}'],
	[PEM.slice(0, 200), '[redacted]'],
	[`${PEM}${PEM} x`, '[redacted][redacted] x'],
	[`a ${PEM.replaceAll('RSA PRIVATE KEY', 'PGP PRIVATE KEY BLOCK')} b`, 'a [redacted] b'],
	['postgres://user:p@ss@host/db?x=a@b', 'postgres://[redacted]@host/db?x=a@b'],
	['with glpat-AbCdEf_0123-456789xy.', 'with [redacted].'],
	[`key AIza${'Sy-_9'.repeat(7)}`, 'key [redacted]'],
	['sk_live_51AbCdEfGhIj rk_live_51AbCdEfGhIj sk_test_51AbCdEfGhIj', '[redacted] [redacted] [redacted]'],
	[`npm_${'aB3'.repeat(12)}`, '[redacted]'],
	[`a eyJ${'a'.repeat(5000)}.${'b'.repeat(5000)}.c d`, 'a [redacted] d'],
] as const)
	test(`redacts ${text.slice(0, 60).replaceAll('\n', ' ')}, ${text.length} characters`, t => {
		t.is(redactText(text), expected);
	});

for (const text of [
	'-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
	'-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
	'npm_config_cache is set, npm_lifecycle_event too',
	'the glpat-prefix of tokens',
	'a secret keyword',
])
	test(`does not redact ${text.slice(0, 40).replaceAll('\n', ' ')}`, t => {
		t.is(redactText(text), text);
	});

const word = (characters: string, minLength: number): fc.Arbitrary<string> =>
	fc
		.array(fc.constantFrom(...characters), {minLength, maxLength: minLength + 40})
		.map(letters => letters.join(''));
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const anySecret = fc.oneof(
	word(`${LETTERS}_-`, 20).map(rest => `glpat-${rest}`),
	word(`${LETTERS}_-`, 35).map(rest => `AIza${rest}`),
	word(LETTERS, 10).map(rest => `sk_live_${rest}`),
	word(LETTERS, 36).map(rest => `npm_${rest}`),
	word(`${LETTERS}+/=\n`, 64).map(rest => `-----BEGIN PRIVATE KEY-----\n${rest}\n-----END PRIVATE KEY-----`),
	word(`${LETTERS}+/`, 40).map(rest => `aws_secret_access_key=${rest}`),
);

test('leaves no part of a secret in any text', t => {
	fc.assert(
		fc.property(fc.string(), anySecret, fc.string(), (before, secret, after) => {
			const redacted = redactText(`${before} ${secret} ${after}`);
			for (let at = 0; at + 12 <= secret.length; at += 12) {
				const piece = secret.slice(-12 - at, at === 0 ? undefined : -at);
				if (/BEGIN|END|KEY|aws_|secret|access/.test(piece) || `${before}${after}`.includes(piece)) continue;
				t.false(redacted.includes(piece), piece);
			}
		}),
	);
});

test('the start of a text is redacted like the whole text', t => {
	const piece = fc.oneof(anySecret, fc.string(), fc.constant('plain words '));
	fc.assert(
		fc.property(fc.array(piece), fc.integer({min: 0, max: 300}), (pieces, kept) => {
			const text = pieces.join(' ');
			t.is([...redactStart(text, kept)].join(''), redactStart(redactText(text), kept));
		}),
	);
});

test('drops a secret that is cut at the end of the searched part', t => {
	const token = `eyJ${'a'.repeat(4000)}.${'b'.repeat(3000)}.${'c'.repeat(900)}`;
	const start = redactStart(`see ${token} and ${token} and ${token}`, 300);
	t.is(start, `see ${REDACTED}`);
});

/** Texts of 2 MiB that caused backtracking. Each test only times out if the time is quadratic. */
for (const unit of [
	'eyJ-',
	'eyJaaaaaaaaaaaa.',
	'-----BEGIN PRIVATE KEY-----',
	'-----BEGIN A',
	'AKIA',
	'glpat-',
	'token ',
	'token=" ',
	'cookie ',
	'secret access key ',
	'eyJa',
	'sk-a',
	'://a',
	' ',
])
	test(`redacts 2 MiB of ${JSON.stringify(unit)} in linear time [SEC-D11]`, t => {
		const text = unit.repeat(2 ** 21 / unit.length);
		t.is(typeof redactText(text), 'string');
		t.is(typeof redactKnownSecrets(text), 'string');
	});

test('redacts a token of 64 MiB without overflowing the stack [SEC-D11]', t => {
	for (const unit of ['eyJ-', 'sk-a', 'gh', 'Bearer a'])
		t.notThrows(() => redactKnownSecrets(`eyJ${unit.repeat(2 ** 26 / unit.length)}`));
});
