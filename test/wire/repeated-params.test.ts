import test from 'ava';
import fc from 'fast-check';
import {scanMessage} from '../../lib/wire/scan.js';
import {runBridge, server} from '../helpers/bridge.js';

const request = (params: string, id = 1): string =>
	`{"jsonrpc":"2.0","id":${id},"method":"echo","params":${params}}`;
const flawIn = (params: string) => scanMessage(Buffer.from(request(params))).flaw;

/** Members of params that must not be repeated. */
const names = ['name', 'uri', 'arguments', '_meta', 'requestId'];

/** A key with each letter either plain or as an escape. */
const spelled = (name: string, escapes: readonly boolean[]): string =>
	`"${[...name].map((letter, at) => (escapes[at] ? `\\u00${letter.charCodeAt(0).toString(16)}` : letter)).join('')}"`;

const spelling = fc.array(fc.boolean(), {minLength: 9, maxLength: 9});

for (const name of names)
	test(`rejects a second ${name} in params, also with escapes [SEC-D22]`, t => {
		fc.assert(
			fc.property(spelling, spelling, (one, other) => {
				t.is(flawIn(`{${spelled(name, one)}:{"x":1},"z":[],${spelled(name, other)}:{}}`), 'a repeated key');
				t.is(flawIn(`{${spelled(name, one)}:{},"a":{${spelled(name, other)}:1}}`), undefined);
			}),
		);
	});

test('accepts keys that only resemble each other in params, and repeated keys of data [SEC-D22]', t => {
	const similar = [
		'nam',
		'names',
		'ur',
		'urn',
		'urii',
		'_met',
		'_metb',
		'meta',
		'argument',
		'argumentz',
		'argumentss',
	];
	const all = [
		...names,
		...similar,
		'requestI',
		'requestIds',
		'requestIe',
		'Name',
		'URI',
		'_Meta',
		'requestid',
	];
	t.is(flawIn(`{${all.map(key => `"${key}":1`).join()}}`), undefined);
	for (const name of names)
		for (const params of [`{"a":{"${name}":1,"${name}":2}}`, `[{"${name}":1,"${name}":2}]`])
			t.is(flawIn(params), undefined, params);
});

test('rejects messages with a repeated uri, arguments or _meta, and forwards the next one [SEC-D22]', async t => {
	const twice = [
		'{"uri":"a","uri":"b"}',
		'{"arguments":{},"\\u0061rguments":{"x":1}}',
		'{"_meta":{},"_meta":{}}',
	];
	const lines = [...twice, '{"ok":true}'].map((params, at) => request(params, at));
	const {stdout} = await runBridge(['--', ...server('puppet')], `${lines.join('\n')}\n`, {
		isReady: true,
		answers: lines.length,
	});
	const responses = stdout.map(line => JSON.parse(line)).sort((one, other) => one.id - other.id);
	t.deepEqual(
		responses.map(({error}) => error?.code),
		[-32600, -32600, -32600, undefined],
	);
	t.deepEqual(responses[3].result, {ok: true});
});
