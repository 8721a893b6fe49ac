import test from 'ava';
import fc from 'fast-check';
import {REDACTED, redactMessage, redactParts, redactText} from '../../lib/core/redact.js';
import {piecesOf} from '../wire/cutting.js';

const redacted = (text: string): string => redactMessage(Buffer.from(text)).toString();

const names = [
	'authorization',
	'token',
	'access_token',
	'refresh_token',
	'id_token',
	'password',
	'passwd',
	'secret',
	'client_secret',
	'api_key',
	'cookie',
	'set_cookie',
	'private_key',
	'secret_access_key',
	'aws_secret_access_key',
	'session_token',
	'aws_session_token',
];

/** The names in common spellings. */
const spellings = names.flatMap(name => [
	name,
	name.toUpperCase(),
	name.replaceAll('_', '-'),
	name.replaceAll('_', ''),
	name.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase()),
	name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
]);

const escaped = (name: string): string =>
	[...name].map(char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

for (const name of new Set(spellings))
	test(`redacts the value of ${name}`, t => {
		t.is(redacted(`{"${name}":"hunter2"}`), '{"a":"[redacted]"}'.replace('a', name));
	});

for (const name of names)
	test(`redacts the value of ${name} with every letter escaped`, t => {
		t.is(redacted(`{"${escaped(name)}":"hunter2"}`), `{"${escaped(name)}":"[redacted]"}`);
	});

for (const name of [
	'progressToken',
	'tokens',
	'max_tokens',
	'secretary',
	'mytoken',
	'cookies',
	'author',
	'key',
	'',
	'pass word',
])
	test(`does not redact the value of "${name}"`, t => {
		const text = `{"${name}":"visible"}`;
		t.is(redacted(text), text);
	});

for (const [name, value] of [
	['a string with escapes', String.raw`"a\"}b\\"`],
	['an empty string', '""'],
	['a number', '-1.5e3'],
	['true', 'true'],
	['null', 'null'],
	['an object', '{"a":{"token":[1,"}"]}}'],
	['an empty array', '[ ]'],
	['an array of objects', '[{"a":1},{"b":"]"}]'],
	['a long string', `"${'ü'.repeat(100_000)}"`],
] as const)
	test(`replaces ${name} by one string`, t => {
		t.is(redacted(`{"a": 1, "token" :\t${value} ,"b":2}`), '{"a": 1, "token" :\t"[redacted]" ,"b":2}');
	});

test('redacts all secrets at any depth', t => {
	t.is(
		redacted('[{"token":1,"x":[{"password":"p","y":{"secret":{}}}]},{"cookie":"c"}]'),
		'[{"token":"[redacted]","x":[{"password":"[redacted]","y":{"secret":"[redacted]"}}]},{"cookie":"[redacted]"}]',
	);
});

test('does not redact names in values', t => {
	const text = '{"a":"token","b":["password","secret"],"c":"\\"token\\":\\"x\\""}';
	t.is(redacted(text), text);
});

test('returns the same buffer if there is nothing to redact', t => {
	const message = Buffer.from('{"a":1}');
	t.is(redactMessage(message), message);
});

test('redacts a message in parts, wherever it is split [K4]', t => {
	const message = Buffer.from('{"a":"ä","token":"canary","b":[{"Api-Key":{"c":1}},"\\u00e9"]}');
	const expected = redactMessage(message).toString();
	t.false(expected.includes('canary'));
	for (let first = 0; first <= message.length; first++)
		for (let second = first; second <= message.length; second += 7)
			t.is(Buffer.concat(redactParts(piecesOf(message, [first, second]))).toString(), expected);
	const plain = piecesOf(Buffer.from('{"a":"b"}'), [3]);
	t.is(redactParts(plain), plain);
});

/** Whether a key is one of the names above. */
const isSecret = (name: string): boolean => names.includes(name.toLowerCase().replaceAll('-', '_'));
const anyKey = fc.oneof(
	{weight: 3, arbitrary: fc.string()},
	fc.constantFrom(...names, 'Api-Key', 'progressToken'),
);
const {document: anyDocument} = fc.letrec<{document: unknown}>(tie => ({
	document: fc.oneof(
		{depthSize: 'small', withCrossShrink: true},
		fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null)),
		fc.array(tie('document'), {maxLength: 4}),
		fc.dictionary(anyKey, tie('document'), {maxKeys: 4, noNullPrototype: true}),
	),
}));

function without(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(without);
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(
		Object.entries(value).map(([key, inner]) => [key, isSecret(key) ? REDACTED : without(inner)]),
	);
}

test('changes no byte outside of secrets', t => {
	fc.assert(
		fc.property(anyDocument, fc.constantFrom(undefined, 1, '\t'), (document, space) => {
			const text = JSON.stringify(document, undefined, space);
			const plain = JSON.parse(text) as unknown;
			// With indentation, nested values would be indented differently, so only whole secrets are
			// compared.
			if (space === undefined) t.is(redacted(text), JSON.stringify(without(plain)));
			else t.is(redacted(text), JSON.stringify(without(plain), undefined, space));
		}),
		{numRuns: 1000},
	);
});

test('is idempotent', t => {
	fc.assert(
		fc.property(anyDocument, document => {
			const once = redacted(JSON.stringify(document));
			t.is(redacted(once), once);
		}),
	);
});

test('does not throw for invalid JSON', t => {
	fc.assert(
		fc.property(
			fc.uint8Array(),
			fc.constantFrom('', '{"token":', '{"token":"', '"password" : [{"'),
			(bytes, start) => {
				t.notThrows(() => redactMessage(Buffer.concat([Buffer.from(start), bytes])));
			},
		),
	);
});

for (const [text, expected] of [
	['Authorization: Bearer abc.def', 'Authorization: [redacted]'],
	['authorization=Basic Zm9v rest', 'authorization=[redacted]'],
	['Authorization: token S', 'Authorization: [redacted]'],
	['Cookie: a=b; sid=S', 'Cookie: [redacted]'],
	['run --api-key S3 now', 'run --api-key [redacted] now'],
	['at https://u:S@host/', 'at https://[redacted]@host/'],
	['password=hunter2', 'password=[redacted]'],
	['passwd: hunter2, user: me', 'passwd: [redacted] user: me'],
	['api_key = "with blanks" ok', 'api_key = [redacted] ok'],
	["{'secret': 'x y'}", "{'secret': [redacted]}"],
	['{"access_token":"abc"}', '{"access_token":[redacted]}'],
	['API-KEY: k', 'API-KEY: [redacted]'],
	['Set-Cookie: sid=1', 'Set-Cookie: [redacted]'],
	['Cookie: "a"; session=b', 'Cookie: [redacted]'],
	['{"authorization": "Bearer a\\"b", "x": 1}', '{"authorization": [redacted], "x": 1}'],
	['{"password": "a\\"b", "x": 1}', '{"password": [redacted], "x": 1}'],
	[
		'{\\"aws_secret_access_key\\":\\"wJalr\\",\\"x\\":1}',
		'{\\"aws_secret_access_key\\":[redacted],\\"x\\":1}',
	],
	['the aws secret access key wJalrXUtnFEMI', 'the aws secret access key [redacted]'],
] as const)
	test(`redacts the secret in: ${text}`, t => {
		t.is(redactText(text), expected);
	});

for (const text of [
	'the token was refused',
	'secretary: Ann',
	'max_tokens: 5',
	'ENOENT: no such file',
	'{"password": true, "x": null}',
	'set GITHUB_TOKEN\nFix the cause',
	'',
])
	test(`does not redact: ${text}`, t => {
		t.is(redactText(text), text);
	});

test.serial('redacts many secrets without allocating an object for each [SEC-D11]', t => {
	const count = 10_000;
	const message = Buffer.from(`{${'"token":1,'.repeat(count)}"a":2}`);
	const {from} = Buffer;
	let calls = 0;
	Buffer.from = ((...args: unknown[]) => {
		calls++;
		return Reflect.apply(from, Buffer, args);
	}) as typeof from;
	let result: Buffer;
	try {
		result = redactMessage(message);
	} finally {
		Buffer.from = from;
	}
	t.is(String(result), `{${`"token":"${REDACTED}",`.repeat(count)}"a":2}`);
	t.true(calls < 100, `${calls} calls`);
});
