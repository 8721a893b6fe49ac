import test from 'ava';
import fc from 'fast-check';
import {bridgeArgs, wrappedCommand} from '../../../lib/admin/import/bridge-command.js';
import {
	findSecret,
	findSecretInArgument,
	hasUrlSecret,
	looksLikeSecret,
} from '../../../lib/admin/import/detect-secrets.js';
import {adaptClientFile} from '../../../lib/config/client-formats/adapt-client-file.js';
import {detectClientFormat} from '../../../lib/config/client-formats/client-format.js';
import {parseEnvFile} from '../../../lib/config/client-formats/env-file.js';
import {expandVariables} from '../../../lib/config/expand-variables.js';
import {resolveConfig} from '../../../lib/config/resolve-config.js';
import {assignServerNames, isServerName} from '../../../lib/config/server-names.js';

const places = {cwd: '/work', home: '/home/me', environment: {}};

test('detects the format by file name and keys', t => {
	for (const [file, value, expected] of [
		['/a/bridge.json', {mcpServers: {}}, undefined],
		['/a/.mcp.json', {mcpServers: {}}, 'json'],
		['/a/.mcp.json', {mcpServers: {}, listen: 1}, undefined],
		['/home/me/.claude.json', {mcpServers: {}, store: 1}, 'json'],
		['/a/own.json', {servers: {}}, undefined],
		['/a/own.json', {servers: {}, inputs: []}, 'json'],
		['/a/mcp.json', {servers: {}}, 'json'],
		['/a/mcp.json', {servers: {}, mcpServers: {}}, undefined],
		['/a/own.yaml', {mcpServers: {}}, undefined],
		['/a/copy.toml', {mcp_servers: {}}, 'codex'],
		['/a/.codex/config.toml', {model: 'x'}, 'codex'],
		['/a/config.toml', {model: 'x'}, undefined],
		['/a/x.json', [], undefined],
		['/a/x.json', null, undefined],
	] as const)
		t.is(detectClientFormat(file, value), expected, `${file} ${JSON.stringify(value)}`);
});

test('assigns unique, URL-safe names to any names', t => {
	fc.assert(
		fc.property(fc.uniqueArray(fc.string({unit: 'binary', maxLength: 90})), names => {
			const assigned = [...assignServerNames(names).values()];
			t.true(assigned.every(isServerName));
			t.is(new Set(assigned).size, names.length);
		}),
	);
	const alike = Array.from({length: 20_000}, (_, at) => `A${'.'.repeat(at % 2 === 0 ? at : at + 1)}${at}`);
	t.is(new Set(assignServerNames(alike).values()).size, alike.length);
});

test('adapts any values without an exception', t => {
	const key = fc.constantFrom(
		'mcpServers',
		'servers',
		'mcp_servers',
		'projects',
		'/work',
		'inputs',
		'id',
		'command',
		'args',
		'env',
		'url',
		'headers',
		'envFile',
		'timeout',
		'env_vars',
		'http_headers',
		'env_http_headers',
		'x',
	);
	const leaf = fc.oneof(
		fc.string(),
		fc.integer(),
		fc.boolean(),
		fc.constant(null),
		fc.constant(`$\{input:a}`),
	);
	const {value} = fc.letrec(tie => ({
		value: fc.oneof(
			{depthSize: 'small'},
			leaf,
			fc.array(tie('value'), {maxLength: 3}),
			fc.dictionary(key, tie('value'), {maxKeys: 4, noNullPrototype: true}),
		),
	}));
	fc.assert(
		fc.property(value as fc.Arbitrary<unknown>, fc.constantFrom('json', 'codex'), (input, format) => {
			const adapted = adaptClientFile(input, {
				...places,
				file: '/a/mcp.json',
				format: format as 'json' | 'codex',
			});
			const expanded = expandVariables(adapted.value, adapted.variables, adapted.describeMissing);
			const {issues} = resolveConfig(expanded.value, adapted.folder);
			for (const {path = []} of [...expanded.issues, ...issues])
				t.true(Array.isArray(adapted.originalPath(path)));
		}),
		{numRuns: 1000},
	);
});

test('parses names and values of an envFile with or without quotes', t => {
	t.deepEqual(
		parseEnvFile('A=1\r\n# no\n\nexport B = "x #y\\nz" # c\nC=\'a b\'\nD=x # note\nE=\nF=a=b\nbroken\n=x'),
		{
			variables: {A: '1', B: 'x #y\nz', C: 'a b', D: 'x', E: '', F: 'a=b'},
			warning: 'Lines that are not KEY=VALUE are ignored: 9, 10.',
		},
	);
	t.true('reason' in parseEnvFile('\n'.repeat(3000)));
});

test('detects secrets by name and by form only', t => {
	for (const text of ['ghp_0123456789abcdef', 'sk-ant-0123456789', `${'a'.repeat(31)}f`, 'Ab3'.repeat(9)])
		t.true(looksLikeSecret(text), text);
	for (const text of [
		'debug',
		'/usr/local/lib/node_modules/Server1',
		'@modelcontextprotocol/server-github',
		'a b',
	])
		t.false(looksLikeSecret(text), text);
	for (const [name, value, expected] of [
		['API_KEY', 'x', 'x'],
		['Authorization', 'Bearer abc', 'abc'],
		['X-Thing', 'Basic dXNlcg==', 'dXNlcg=='],
		['API_KEY', `$\{API_KEY}`, undefined],
		['TOKEN_FILE', '/run/token', undefined],
		['AUTH_ENABLED', 'true', undefined],
		['LOG_LEVEL', 'debug', undefined],
		['DATABASE_URL', 'postgres://me:pw@host/db', 'postgres://me:pw@host/db'],
	] as const)
		t.is(findSecret(name, value)?.secret, expected, `${name}=${value}`);
	for (const [flag, value, expected] of [
		['--token', 'x', 'x'],
		['-y', 'x', undefined],
		['-e', 'GITHUB_TOKEN=abc', 'abc'],
		['--header', 'Authorization: Bearer abc', 'abc'],
		['', '--api-key=abc', 'abc'],
		['--token', '--verbose', undefined],
		['', 'https://example.com/mcp?api_key=abc', 'https://example.com/mcp?api_key=abc'],
		['', 'https://example.com/mcp', undefined],
		['', 'curl -H "Authorization: Basic abc" x', 'curl -H "Authorization: Basic abc" x'],
		['', '{"Authorization":"Bearer abc"}', '{"Authorization":"Bearer abc"}'],
		['', `{"Authorization":"Bearer $\{T}"}`, undefined],
		['', `postgres://$\{U}:$\{P}@host/db`, undefined],
		['', `postgres://$\{U}:pw@host/db`, `postgres://$\{U}:pw@host/db`],
		['', 'exec docker run -e API_KEY -i image', undefined],
	] as const)
		t.is(findSecretInArgument(flag, value)?.secret, expected, `${flag} ${value}`);
	t.is(
		findSecretInArgument('', `${'aB3'.repeat(8)}==`)?.name,
		'argument',
		'the name contains nothing of the secret',
	);
	t.true(hasUrlSecret('https://me:pw@example.com/'));
	t.false(hasUrlSecret('https://example.com/mcp?page=1'));
});

test('recognizes bridge in a command by its name, or by Node and its script', t => {
	t.deepEqual(wrappedCommand(['bridge', '--', 'x', 'y']), ['x', 'y']);
	t.deepEqual(wrappedCommand(['/usr/bin/node', '/opt/bridge/dist/bin/bridge.js', '--', 'x']), ['x']);
	t.deepEqual(wrappedCommand(['C:\\npm\\bridge.cmd', '--', 'x']), ['x']);
	for (const words of [
		['bridge', 'serve'],
		['bridge', '--debug', '--', 'x'],
		['bridge', '--'],
		['npx', '--', 'x'],
	])
		t.is(wrappedCommand(words), undefined, words.join(' '));
	t.deepEqual(bridgeArgs(['bridge', 'hub']), ['hub']);
	t.is(bridgeArgs(['node', 'server.js']), undefined);
});
