import test from 'ava';
import {parse, stringify} from 'yaml';
import {formatConfig} from '../../lib/config/format-config.js';
import {loadConfig, loadConfigFile} from '../../lib/config/load-config.js';
import {newFolder} from '../helpers/program.js';
import {comparable, configFixture, loaded} from './support.js';

const environment = {
	BRIDGE_TOKEN: 'hunter2hunter2hunter2',
	BRIDGE_SECRET: 'hunter2-hunter2-hunter2',
	LEGACY_KEY: 'hunter2',
};

/** Returns the comment after the line with this start. */
const originOf = (text: string, start: string): string | undefined =>
	text
		.split('\n')
		.find(line => line.trim().startsWith(start))
		?.split('  # ')[1];

test('prints every value with its origin', async t => {
	const text = formatConfig(await loadConfigFile(configFixture('whole.yaml'), environment));
	t.is(text.split('\n')[0], `# ${configFixture('whole.yaml')}`);
	t.is(originOf(text, 'listen:'), 'whole.yaml:2');
	t.is(originOf(text, 'secret:'), 'whole.yaml:9, $BRIDGE_SECRET');
	t.is(originOf(text, 'X-Api-Key:'), 'whole.yaml:16, $LEGACY_KEY');
	t.is(originOf(text, 'LOG:'), 'whole.yaml:31, $LOG');
	t.is(originOf(text, 'transport: http'), 'whole.yaml:15');
	t.is(originOf(text, 'transport: stdio'), 'guessed');
	t.is(originOf(text, '- "@modelcontextprotocol'), 'whole.yaml:30');
	for (const line of text.trimEnd().split('\n').slice(1)) t.regex(line, /: *$| {2}# /);
});

test('prints only the file name if lines are unknown', async t => {
	const text = formatConfig(await loadConfigFile(configFixture('whole.toml'), environment));
	t.is(originOf(text, 'listen:'), 'whole.toml');
});

test('finds the origin of values that are set by an alias', async t => {
	const text = formatConfig(
		await loaded(
			t,
			'mcpServers:\n  a:\n    url: https://x/\n    type: sse\n    disabled: true\n    headers:\n      Accept: a/b\n',
		),
	);
	t.is(originOf(text, 'transport:'), 'bridge.yaml:4');
	t.is(originOf(text, 'enabled: false'), 'bridge.yaml:5');
	t.is(originOf(text, 'accept: a/b'), 'bridge.yaml:7');
	t.is(originOf(text, 'contentType:'), 'default');
});

test('prints the defaults without a file', async t => {
	const folder = await newFolder(t);
	const text = formatConfig(await loadConfig({environment: {}, cwd: folder, home: folder}));
	t.deepEqual(parse(text), {
		listen: '127.0.0.1:7411',
		tokens: [],
		origins: [],
		expose: 'run',
		startupTimeout: '10s',
		runTimeout: '90s',
		limits: {
			message: '64MiB',
			sessions: 1000,
			idle: '30m',
			unread: '256MiB',
			unreadFor: '1m',
			kept: '256MiB',
			runCall: '1MiB',
		},
		servers: {},
	});
	t.is(originOf(text, 'listen:'), 'default');
});

test('hides secrets everywhere [K4]', async t => {
	const text = formatConfig(
		await loaded(
			t,
			JSON.stringify({
				tokens: ['hunter2hunter2hunter2'],
				secret: 'hunter2hunter2hunter2',
				store: 'redis://:hunter2@store/0?password=hunter2',
				advertise: 'http://hunter2@bridge-1:7411',
				servers: {
					a: {
						url: 'https://hunter2:hunter2@example.com/mcp?key=hunter2#hunter2',
						headers: {Authorization: 'Bearer hunter2', 'X-Plain': 'hunter2'},
					},
					b: {
						command: 'x',
						args: [
							'--api-key',
							'hunter2',
							'--token=hunter2',
							`$\{MY_TOKEN}`,
							'https://hunter2@x/?a=hunter2',
							'-v',
						],
						env: {A: 'hunter2'},
					},
					c: {url: `https://example.com/$\{URL_SECRET}/mcp`},
				},
			}),
			{environment: {MY_TOKEN: 'hunter2', URL_SECRET: 'hunter2'}},
		),
	);
	t.false(text.includes('hunter2'), text);
	const {servers, store} = parse(text) as {servers: {[name: string]: unknown}; store: string};
	t.is(store, 'redis://[hidden]@store/0?password=[hidden]');
	t.like(servers.a, {
		url: 'https://[hidden]@example.com/mcp?key=[hidden]',
		headers: {Authorization: '[hidden]', 'X-Plain': '[hidden]'},
	});
	t.like(servers.b, {env: {A: '[hidden]'}});
	t.deepEqual((servers.b as {args: unknown}).args, [
		'--api-key',
		'[hidden]',
		'--token=[hidden]',
		'[hidden]',
		'https://[hidden]@x/?a=[hidden]',
		'-v',
	]);
	t.like(servers.c, {url: '[hidden]'});
});

/** Formats a value with sorted keys. */
const sorted = (value: unknown): string => stringify(value, {sortMapEntries: true});

test('printed configurations without secrets can be loaded again', async t => {
	const first = await loaded(
		t,
		[
			'listen: "[::1]:0"',
			'origins: ["https://*.example.com"]',
			'limits: {message: 1500B, sessions: 7, idle: 90s, rate: 10/s}'.replace('1500B', '1500'),
			'servers:',
			'  "1": {url: "http://localhost/a b", timeout: 0.25, strict: true, targetVersion: "2024-11-05"}',
			'  b: {command: "a: b # c", args: ["- x", "", "true", "1", "\\n\\t\\e", "#"], cwd: /tmp, enabled: false}',
		].join('\n'),
	);
	const again = await loaded(t, formatConfig(first));
	// The output contains the transport, so it is no longer guessed.
	const text = JSON.stringify(comparable(first.config)).replaceAll('Guessed":true', 'Guessed":false');
	t.is(sorted(comparable(again.config)), sorted(JSON.parse(text)));
});

test('control characters in a file cannot reach the terminal [K5]', async t => {
	const text = formatConfig(await loaded(t, 'servers: {a: {command: "x\\e[31m\\n# y", cwd: "\\u009b"}}'));
	t.notRegex(text.replaceAll('\n', ''), /\p{Cc}/u);
});
