import {readdirSync} from 'node:fs';
import test from 'ava';
import {loadConfigFile} from '../../lib/config/load-config.js';
import {BridgeError} from '../../lib/core/errors.js';
import {complaint, configFixture, written} from './support.js';

/** The files and patterns for the location, the key and the expected value in their errors. */
const broken: {readonly [name: string]: readonly RegExp[]} = {
	'unknown-key.yaml': [/yaml:4: servers\.legacy\.timeot:/, /not known\. Did you mean timeout\?/],
	'unknown-key.json': [/json:2: lisen:/, /not known\. Did you mean listen\?/],
	'unknown-key.toml': [/toml: servers\.legacy\.cacheTool:/, /not known\. Did you mean cacheTools\?/],
	'unknown-limit.yaml': [/yaml:2: limits\.mesage:/, /not known\. Did you mean message\?/],
	'wrong-type.yaml': [/yaml:4: servers\.legacy\.enabled: Expected true or false, found 1\./],
	'wrong-type.json': [/json:2: servers\.files\.args: Expected a list\./],
	'wrong-type.toml': [/toml: tokens: Expected a list\./],
	'duplicate-service.yaml': [/yaml:4:3: Duplicate key/],
	'duplicate-service.json': [/json:3:3: Duplicate key "files"/],
	'duplicate-service.toml': [/toml:3:\d+: Invalid TOML: .*already defined/],
	'bad-url-scheme.yaml': [/yaml:3: servers\.old\.url: Expected a URL that begins with http:\/\//],
	'no-url.yaml': [/yaml:3: servers\.old\.url: Expected a URL/],
	'syntax.yaml': [/yaml:3:1: Invalid YAML: /],
	'syntax.json': [/json:3:3: Expected , or }\./],
	'syntax.toml': [/toml:1:\d+: Invalid TOML: /],
	'a-list.yaml': [/yaml: Expected keys and values\./],
	'open-to-all.yaml': [/yaml:1: listen: 0\.0\.0\.0:7411 can be reached/, /127\.0\.0\.1:7411, or set tokens/],
	'both-names.yaml': [/yaml:3: mcpServers: mcpServers is an alias of servers/],
	'alias-of-nothing.yaml': [/yaml:3:\d+: Invalid YAML: |Aliases are used/],
	'two-documents.yaml': [/yaml:2:1: Invalid YAML: /],
};

test('the table lists every broken fixture [K2]', t => {
	const sorted = (names: readonly string[]): string[] =>
		names.toSorted((one, other) => one.localeCompare(other));
	t.deepEqual(sorted(readdirSync(configFixture('broken'))), sorted(Object.keys(broken)));
});

for (const [name, patterns] of Object.entries(broken))
	test(`rejects ${name} with file, key and expected value [K2]`, async t => {
		const error = await t.throwsAsync(loadConfigFile(configFixture(`broken/${name}`), {}), {
			instanceOf: BridgeError,
		});
		t.is(error?.exitCode, 2);
		for (const pattern of patterns) t.regex(error?.sentence ?? '', pattern);
		t.false(error?.sentence.includes('hunter2'));
	});

test('rejects a YAML alias bomb before expanding it [K2]', async t => {
	const levels = Array.from({length: 30}, (_, at) => {
		const aliases = Array.from({length: 9}, () => `*a${at}`).join(', ');
		return `a${at + 1}: &a${at + 1} [${aliases}]`;
	});
	t.regex(await complaint(t, ['a0: &a0 [x]', ...levels].join('\n')), /Aliases are used too often/);
});

test('rejects a file of 10 MB [K2]', async t => {
	t.regex(
		await complaint(t, `# ${'x'.repeat(10e6)}`),
		/is too large\. A configuration has at most 1048576 bytes/,
	);
});

test('reads a file just below the size limit', async t => {
	const text = `listen: 5\n${'# \n'.repeat(300_000)}`;
	t.is((await loadConfigFile(await written(t, 'bridge.yaml', text), {})).config.listen.port, 5);
});

for (const [name, open] of [
	['bridge.yaml', '['],
	['bridge.json', '['],
	['bridge.json', '{"a":'],
	['bridge.toml', 'a = ['],
] as const)
	test(`rejects unterminated ${open} in ${name} [K2]`, async t => {
		const text = name.endsWith('toml') ? `a = ${'['.repeat(50_000)}` : open.repeat(50_000);
		t.truthy(await complaint(t, text, {name}));
	});

test('rejects a file that is not UTF-8 [K2]', async t => {
	const file = await written(t, 'bridge.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]));
	await t.throwsAsync(loadConfigFile(file, {}), {message: /is not valid UTF-8/});
});

test('rejects a file with an unknown extension [K2]', async t => {
	t.regex(await complaint(t, '{}', {name: 'bridge.conf'}), /must end in \.yaml, \.yml, \.json, \.toml/);
});

for (const [name, text] of [
	['bridge.yaml', 'servers: {__proto__: {command: x}}'],
	['bridge.json', '{"servers": {"__proto__": {"command": "x"}}}'],
	['bridge.toml', '[servers.__proto__]\ncommand = "x"'],
	['bridge.yaml', '__proto__: {listen: 1}'],
	['bridge.yaml', 'servers: {a: {command: x, env: {__proto__: y}}}'],
] as const)
	test(`rejects ${text.replace('\n', ' ')} in ${name} without side effects [A15] [B12]`, async t => {
		t.regex(await complaint(t, text, {name}), /__proto__: This key name is not allowed/);
		t.is(({} as {command?: string}).command, undefined);
	});

test('control characters in keys cannot reach the terminal or forge a line [K5]', async t => {
	const text = await complaint(t, '{"evil\\u001b[31m\\nbridge: all is well": 1}', {name: 'bridge.json'});
	t.is(text.split('\n').length, 1);
	t.notRegex(text, /\p{Cc}/u);
});

test('errors do not contain possible secrets [K4]', async t => {
	const text = await complaint(
		t,
		JSON.stringify({
			tokens: ['hunter2 hunter2', 1_234_567],
			secret: ['hunter2'],
			store: 'hunter2://hunter2',
			servers: {
				a: {url: 'hunter2', headers: {'X-Key': 'hunter2\n', Y: 1_234_567}},
				b: {command: 'x', env: {PIN: 1_234_567}, args: ['--key', 1_234_567], timeout: 'x'},
			},
		}),
		{name: 'bridge.json'},
	);
	t.regex(text, /has \d+ mistakes/);
	t.notRegex(text, /hunter2|1234567/);
});
