import {readdirSync} from 'node:fs';
import test from 'ava';
import {loadConfigFile} from '../../lib/config/load-config.js';
import {BridgeError} from '../../lib/core/errors.js';
import {complaint, configFixture, written} from './support.js';

/** Files, and what has to be said of each: the place, the key, what was expected. */
const broken: {readonly [name: string]: readonly RegExp[]} = {
	'unknown-key.yaml': [/yaml:4: servers\.legacy\.timeot:/, /not known\. Did you mean timeout\?/],
	'unknown-key.json': [/json:2: lisen:/, /not known\. Did you mean listen\?/],
	'unknown-key.toml': [/toml: servers\.legacy\.cacheTool:/, /not known\. Did you mean cacheTools\?/],
	'unknown-limit.yaml': [/yaml:2: limits\.mesage:/, /not known\. Did you mean message\?/],
	'wrong-type.yaml': [/yaml:4: servers\.legacy\.enabled: Expected true or false, found 1\./],
	'wrong-type.json': [/json:2: servers\.files\.args: Expected a list\./],
	'wrong-type.toml': [/toml: tokens: Expected a list\./],
	'duplicate-service.yaml': [/yaml:4:3: This key stands here twice/],
	'duplicate-service.json': [/json:3:3: The key "files" stands here twice/],
	'duplicate-service.toml': [/toml:3:\d+: This is no TOML: .*already defined/],
	'bad-url-scheme.yaml': [/yaml:3: servers\.old\.url: Expected a URL that begins with http:\/\//],
	'no-url.yaml': [/yaml:3: servers\.old\.url: Expected a URL/],
	'syntax.yaml': [/yaml:3:1: This is not YAML: /],
	'syntax.json': [/json:3:3: A , or } is missing\./],
	'syntax.toml': [/toml:1:\d+: This is no TOML: /],
	'a-list.yaml': [/yaml: Expected keys and values\./],
	'open-to-all.yaml': [/yaml:1: listen: 0\.0\.0\.0:7411 can be reached/, /127\.0\.0\.1:7411, or set tokens/],
	'both-names.yaml': [/yaml:3: mcpServers: This is another name of servers/],
	'alias-of-nothing.yaml': [/yaml:3:\d+: This is not YAML: |Aliases are used/],
	'two-documents.yaml': [/yaml:2:1: This is not YAML: /],
};

test('every broken file of the fixtures is in the table [K2]', t => {
	const sorted = (names: readonly string[]): string[] =>
		names.toSorted((one, other) => one.localeCompare(other));
	t.deepEqual(sorted(readdirSync(configFixture('broken'))), sorted(Object.keys(broken)));
});

for (const [name, says] of Object.entries(broken))
	test(`${name} is refused with file, key and what was expected [K2]`, async t => {
		const error = await t.throwsAsync(loadConfigFile(configFixture(`broken/${name}`), {}), {
			instanceOf: BridgeError,
		});
		t.is(error?.exitCode, 2);
		for (const pattern of says) t.regex(error?.sentence ?? '', pattern);
		t.false(error?.sentence.includes('hunter2'));
	});

test('a YAML alias bomb is refused before it goes off [K2]', async t => {
	const levels = Array.from({length: 30}, (_, at) => {
		const aliases = Array.from({length: 9}, () => `*a${at}`).join(', ');
		return `a${at + 1}: &a${at + 1} [${aliases}]`;
	});
	t.regex(await complaint(t, ['a0: &a0 [x]', ...levels].join('\n')), /Aliases are used too often/);
});

test('a file of 10 MB is refused [K2]', async t => {
	t.regex(
		await complaint(t, `# ${'x'.repeat(10e6)}`),
		/is too long\. A configuration has at most 1048576 bytes/,
	);
});

test('a file just short of the limit is read', async t => {
	const text = `listen: 5\n${'# \n'.repeat(300_000)}`;
	t.is((await loadConfigFile(await written(t, 'bridge.yaml', text), {})).config.listen.port, 5);
});

for (const [name, open] of [
	['bridge.yaml', '['],
	['bridge.json', '['],
	['bridge.json', '{"a":'],
	['bridge.toml', 'a = ['],
] as const)
	test(`${open} without end in ${name} is refused [K2]`, async t => {
		const text = name.endsWith('toml') ? `a = ${'['.repeat(50_000)}` : open.repeat(50_000);
		t.truthy(await complaint(t, text, {name}));
	});

test('a file that is not UTF-8 is refused [K2]', async t => {
	const file = await written(t, 'bridge.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]));
	await t.throwsAsync(loadConfigFile(file, {}), {message: /is not written in UTF-8/});
});

test('a file without a known ending is refused [K2]', async t => {
	t.regex(await complaint(t, '{}', {name: 'bridge.conf'}), /has to end in \.yaml, \.yml, \.json, \.toml/);
});

for (const [name, text] of [
	['bridge.yaml', 'servers: {__proto__: {command: x}}'],
	['bridge.json', '{"servers": {"__proto__": {"command": "x"}}}'],
	['bridge.toml', '[servers.__proto__]\ncommand = "x"'],
	['bridge.yaml', '__proto__: {listen: 1}'],
	['bridge.yaml', 'servers: {a: {command: x, env: {__proto__: y}}}'],
] as const)
	test(`${text.replace('\n', ' ')} is refused in ${name}, and changes nothing [A15] [B12]`, async t => {
		t.regex(await complaint(t, text, {name}), /__proto__: No key may have this name/);
		t.is(({} as {command?: string}).command, undefined);
	});

test('what a key holds cannot write to a terminal, nor forge a line [K5]', async t => {
	const text = await complaint(t, '{"evil\\u001b[31m\\nbridge: all is well": 1}', {name: 'bridge.json'});
	t.is(text.split('\n').length, 1);
	t.notRegex(text, /\p{Cc}/u);
});

test('no mistake repeats what may be secret [K4]', async t => {
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
