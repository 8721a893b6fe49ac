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

/** The comment behind the line that begins so. */
const placeOf = (text: string, start: string): string | undefined =>
	text
		.split('\n')
		.find(line => line.trim().startsWith(start))
		?.split('  # ')[1];

test('shows every value with the place that it comes from', async t => {
	const text = formatConfig(await loadConfigFile(configFixture('whole.yaml'), environment));
	t.is(text.split('\n')[0], `# ${configFixture('whole.yaml')}`);
	t.is(placeOf(text, 'listen:'), 'whole.yaml:2');
	t.is(placeOf(text, 'secret:'), 'whole.yaml:9, $BRIDGE_SECRET');
	t.is(placeOf(text, 'X-Api-Key:'), 'whole.yaml:16, $LEGACY_KEY');
	t.is(placeOf(text, 'LOG:'), 'whole.yaml:31, $LOG');
	t.is(placeOf(text, 'transport: http'), 'whole.yaml:15');
	t.is(placeOf(text, 'transport: stdio'), 'guessed');
	t.is(placeOf(text, '- "@modelcontextprotocol'), 'whole.yaml:30');
	for (const line of text.trimEnd().split('\n').slice(1)) t.regex(line, /: *$| {2}# /);
});

test('names the file alone where lines are not known', async t => {
	const text = formatConfig(await loadConfigFile(configFixture('whole.toml'), environment));
	t.is(placeOf(text, 'listen:'), 'whole.toml');
});

test('finds the place of what was given by another name', async t => {
	const text = formatConfig(
		await loaded(
			t,
			'mcpServers:\n  a:\n    url: https://x/\n    type: sse\n    disabled: true\n    headers:\n      Accept: a/b\n',
		),
	);
	t.is(placeOf(text, 'transport:'), 'bridge.yaml:4');
	t.is(placeOf(text, 'enabled: false'), 'bridge.yaml:5');
	t.is(placeOf(text, 'accept: a/b'), 'bridge.yaml:7');
	t.is(placeOf(text, 'contentType:'), 'default');
});

test('shows the defaults where there is no file', async t => {
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
	t.is(placeOf(text, 'listen:'), 'default');
});

test('shows no secret, wherever it stands [K4]', async t => {
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

/** A value as text, its keys in order. */
const sorted = (value: unknown): string => stringify(value, {sortMapEntries: true});

test('what is shown, and holds no secret, means the same when it is read again', async t => {
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
	// The transport is written out, so nobody has to guess it any more.
	const text = JSON.stringify(comparable(first.config)).replaceAll('Guessed":true', 'Guessed":false');
	t.is(sorted(comparable(again.config)), sorted(JSON.parse(text)));
});

test('nothing in a file can write to a terminal [K5]', async t => {
	const text = formatConfig(await loaded(t, 'servers: {a: {command: "x\\e[31m\\n# y", cwd: "\\u009b"}}'));
	t.notRegex(text.replaceAll('\n', ''), /\p{Cc}/u);
});
