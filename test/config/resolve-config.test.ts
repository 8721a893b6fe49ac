import {availableParallelism} from 'node:os';
import test from 'ava';
import {resolveConfig} from '../../lib/config/resolve-config.js';
import type {Config} from '../../lib/config/schema.js';

const folder = '/etc/bridge';

function configOf(input: unknown): Config {
	const {config, issues} = resolveConfig(input, folder);
	if (!config) throw new Error(JSON.stringify(issues));
	return config;
}

/** Returns the issues as `path: text`. */
const issuesOf = (input: unknown): string[] =>
	resolveConfig(input, folder).issues.map(({path = [], text}) => `${path.join('.')}: ${text}`);

for (const [input, host, port] of [
	['127.0.0.1:7411', '127.0.0.1', 7411],
	['localhost:0', 'localhost', 0],
	['[::1]:65535', '::1', 65_535],
	[8080, '127.0.0.1', 8080],
	['8080', '127.0.0.1', 8080],
] as const)
	test(`accepts the address ${JSON.stringify(input)}`, t => {
		t.deepEqual(configOf({listen: input}).listen, {host, port});
	});

for (const input of [
	'',
	':7411',
	'127.0.0.1',
	'127.0.0.1:',
	'a b:1',
	'127.0.0.1:65536',
	'::1:80',
	'[::1]',
	'http://x:1',
	-1,
	65_536,
	1.5,
	true,
	null,
	{},
	[],
])
	test(`rejects the address ${JSON.stringify(input)}`, t => {
		t.regex(issuesOf({listen: input})[0] ?? '', /^listen: Expected an address and a port/);
	});

for (const listen of ['0.0.0.0:1', '[::]:1', '192.168.1.1:1', 'example.com:1'])
	test(`rejects ${listen} without tokens and names both remedies`, t => {
		const [issue = ''] = issuesOf({listen});
		t.regex(issue, /^listen: .*can be reached from other machines/);
		t.regex(issue, /Listen on 127\.0\.0\.1:1, or set tokens/);
		t.deepEqual(issuesOf({listen, tokens: []}).length, 1);
		t.deepEqual(issuesOf({listen, tokens: ['a-token-of-sixteen']}), []);
	});

for (const [input, pattern] of [
	[{tokens: ['']}, /^tokens\.0: Expected a token/],
	[{tokens: ['a b']}, /^tokens\.0: Expected a token/],
	[{tokens: ['a\r\nb']}, /^tokens\.0: Expected a token/],
	[{origins: ['*']}, /^origins\.0: Expected an origin/],
	[{origins: ['null']}, /^origins\.0: Expected an origin/],
	[{origins: ['https://example.com/path']}, /^origins\.0: Expected an origin/],
	[{runTimeout: '0.5s'}, /^runTimeout: Expected a time from 1s to 1h/],
	[{startupTimeout: '11m'}, /^startupTimeout: Expected a time of at most 10m/],
	[{expose: 'all'}, /^expose: Expected one of run, tools, both, found "all"/],
	[{limits: {message: '0'}}, /^limits\.message: Expected a size/],
	[{limits: {message: '2GiB'}}, /^limits\.message: Expected a size/],
	[{limits: {sessions: 0}}, /^limits\.sessions: Expected a whole number/],
	[{limits: {sessions: 1.5}}, /^limits\.sessions: Expected a whole number/],
	[{limits: {idle: '90d'}}, /^limits\.idle: Expected a time/],
	[{limits: {rate: '0/s'}}, /^limits\.rate: Expected a number of requests per second/],
	[{limits: {rate: '10/d'}}, /^limits\.rate: Expected a number of requests per second/],
	[{limits: {rate: 10}}, /^limits\.rate: Expected a number of requests per second/],
	[
		{limits: {clientSessions: -1}},
		/^limits\.clientSessions: Expected a whole number up to 1000000; 0 for no quota/,
	],
	[{limits: {clientRuns: '1.5'}}, /^limits\.clientRuns: Expected a whole number/],
	[{limits: {clientRequests: 'half'}}, /^limits\.clientRequests: Expected a whole number/],
	[{limits: []}, /^limits: Expected names of limits, like sessions, and their values, found a list/],
	[{secret: ''}, /^secret: Expected text: .*, found nothing/],
	[{advertise: 'bridge-1:7411'}, /^advertise: Expected a URL/],
	[{store: 'http://x'}, /^store: Expected a URL that begins with redis/],
	[{packs: 'a\0b'}, /^packs: Expected text/],
	[{servers: []}, undefined],
	[{servers: ['x']}, /^servers: Expected server names/],
	[{servers: 'x'}, /^servers: Expected server names/],
	[{Servers: {}}, /^Servers: This key is not known\. Did you mean servers\?/],
	[{mcpservers: {}}, /^mcpservers: This key is not known\. Did you mean mcpServers\?/],
] as const)
	test(`${pattern ? 'rejects' : 'accepts'} ${JSON.stringify(input)}`, t => {
		const found = issuesOf(input);
		t.is(found.length, pattern ? 1 : 0);
		if (pattern) t.regex(found[0] ?? '', pattern);
	});

test('accepts strings for all types, since variables only contain strings', t => {
	const {limits, services} = configOf({
		limits: {
			sessions: '5',
			message: '2048',
			idle: '0',
			unread: '1MiB',
			unreadFor: '90',
			kept: '2MiB',
			rate: '600/m',
		},
		servers: {a: {command: 'x', enabled: 'false', cacheTools: 'true', timeout: '2.5'}},
	});
	t.like(limits, {
		sessions: 5,
		messageBytes: 2048,
		idleMs: 0,
		unreadBytes: 2 ** 20,
		unreadForMs: 90_000,
		bufferBytes: 2 ** 21,
		rate: {count: 600, windowMs: 60_000},
	});
	t.like(services.get('a'), {enabled: false, cacheTools: true, timeoutMs: 2500});
});

test('mcpServers is an alias of servers, and one of them may be empty', t => {
	const one = {a: {command: 'x'}};
	for (const input of [{mcpServers: one}, {mcpServers: one, servers: {}}, {servers: one, mcpServers: null}])
		t.deepEqual([...configOf(input).services.keys()], ['a']);
	t.deepEqual(issuesOf({servers: one, mcpServers: one}), [
		'mcpServers: mcpServers is an alias of servers. Use only one of them.',
	]);
});

for (const name of ['a', '0', 'a_b-c', 'constructor', 'tostring', 'x'.repeat(64)])
	test(`accepts ${name} as a service name [B12]`, t => {
		t.deepEqual([...configOf({servers: {[name]: {command: 'x'}}}).services.keys()], [name]);
	});

for (const name of [
	'',
	'-a',
	'_a',
	'A',
	'a b',
	'a/b',
	'..',
	'a.b',
	'ä',
	'а',
	'a\n',
	'%2e',
	'x'.repeat(65),
	'toString',
	'hasOwnProperty',
])
	test(`rejects ${JSON.stringify(name)} as a service name [B12]`, t => {
		const found = issuesOf({servers: {[name]: {command: 'x'}}});
		t.is(found.length, 1);
		t.regex(found[0] ?? '', /Invalid server name, since it is part of a URL/);
	});

test('suggests a valid name for an invalid one', t => {
	t.regex(issuesOf({servers: {'My Server!': {command: 'x'}}})[0] ?? '', / Try my-server\.$/);
});

for (const [input, key] of [
	[{tokens: ['a-token-of-sixteen', 'fifteen-letters']}, 'tokens.1'],
	[{secret: 'fifteen-letters'}, 'secret'],
	[{secret: 'a secret of some length\nfifteen-letters'}, 'secret'],
] as const)
	test(`rejects ${JSON.stringify(input)} and prints a command that creates a longer one [SEC-D21] [U-P1-17]`, t => {
		const [issue = ''] = issuesOf(input);
		t.true(issue.startsWith(`${key}: Expected`), issue);
		t.regex(issue, /16 characters or more.*openssl rand -hex 16/);
		t.false(issue.includes('fifteen'));
	});

test('resolves packs relative to the file', t => {
	t.is(configOf({packs: './packs'}).packs, '/etc/bridge/packs');
	t.is(configOf({packs: '/abs'}).packs, '/abs');
});

test('ignores $schema, which editors use, without a warning', t => {
	t.deepEqual(resolveConfig({$schema: 'https://x'}, folder).warnings, []);
});

test('reports a malformed store without showing it [K2]', t => {
	const secret = 'a secret of some length';
	const good = 'redis://bridge:a%25b@store:6379/0?sentinel=shared&node=other:26379';
	t.is(configOf({secret, store: good}).store?.href, good);
	for (const store of [
		'redis://bridge:100%@store',
		'redis://%E0%A4@store',
		'redis://store?node=a:b',
		'redis://store?node=',
		'http://store',
		'store:6379',
	]) {
		const [found = '', ...others] = issuesOf({secret, store});
		t.deepEqual(others, []);
		t.regex(found, /^store: Expected a URL that begins with redis:\/\/ or rediss:\/\//);
		t.false(found.includes('100%'));
	}
});

test('quotas default to half of each limit with several tokens [SEC-D18]', t => {
	const tokens = ['token-of-client-a', 'token-of-client-b'];
	const half = Math.floor(Math.max(4, availableParallelism()) / 2);
	t.like(configOf({tokens}).limits, {clientSessions: 500, clientRuns: half, clientRequests: 512});
	t.like(configOf({tokens, limits: {sessions: 1}}).limits, {clientSessions: 1});
	const own = {clientSessions: 7, clientRuns: 0, clientRequests: 9};
	t.like(configOf({tokens, limits: own}).limits, own);
	t.like(configOf({limits: own}).limits, own);
	for (const alone of [{}, {tokens: tokens.slice(1)}, {tokens: [tokens[0], tokens[0]]}])
		t.is(configOf(alone).limits.clientSessions, undefined);
});
