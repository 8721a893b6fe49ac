import {availableParallelism} from 'node:os';
import test from 'ava';
import {resolveConfig} from '../../lib/config/resolve-config.js';
import type {Config} from '../../lib/config/schema.js';

const folder = '/etc/bridge';

function configOf(given: unknown): Config {
	const {config, issues: mistakes} = resolveConfig(given, folder);
	if (!config) throw new Error(JSON.stringify(mistakes));
	return config;
}

/** What is wrong, as `path: text`. */
const wrongs = (given: unknown): string[] =>
	resolveConfig(given, folder).issues.map(({path = [], text}) => `${path.join('.')}: ${text}`);

for (const [given, host, port] of [
	['127.0.0.1:7411', '127.0.0.1', 7411],
	['localhost:0', 'localhost', 0],
	['[::1]:65535', '::1', 65_535],
	[8080, '127.0.0.1', 8080],
	['8080', '127.0.0.1', 8080],
] as const)
	test(`listens at ${JSON.stringify(given)}`, t => {
		t.deepEqual(configOf({listen: given}).listen, {host, port});
	});

for (const given of [
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
	test(`does not listen at ${JSON.stringify(given)}`, t => {
		t.regex(wrongs({listen: given})[0] ?? '', /^listen: Expected an address and a port/);
	});

for (const listen of ['0.0.0.0:1', '[::]:1', '192.168.1.1:1', 'example.com:1'])
	test(`does not listen at ${listen} without tokens, and names both remedies`, t => {
		const [wrong = ''] = wrongs({listen});
		t.regex(wrong, /^listen: .*can be reached from other machines/);
		t.regex(wrong, /Listen on 127\.0\.0\.1:1, or set tokens/);
		t.deepEqual(wrongs({listen, tokens: []}).length, 1);
		t.deepEqual(wrongs({listen, tokens: ['a-token-of-sixteen']}), []);
	});

for (const [given, says] of [
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
	[{limits: {rate: '0/s'}}, /^limits\.rate: Expected so many requests in a second/],
	[{limits: {rate: '10/d'}}, /^limits\.rate: Expected so many requests in a second/],
	[{limits: {rate: 10}}, /^limits\.rate: Expected so many requests in a second/],
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
	[{servers: ['x']}, /^servers: Expected names of servers/],
	[{servers: 'x'}, /^servers: Expected names of servers/],
	[{Servers: {}}, /^Servers: This key is not known\. Did you mean servers\?/],
	[{mcpservers: {}}, /^mcpservers: This key is not known\. Did you mean mcpServers\?/],
] as const)
	test(`${says ? 'refuses' : 'takes'} ${JSON.stringify(given)}`, t => {
		const found = wrongs(given);
		t.is(found.length, says ? 1 : 0);
		if (says) t.regex(found[0] ?? '', says);
	});

test('takes what variables hold, which is always text', t => {
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

test('mcpServers is another name of servers, and the other may be there when it is empty', t => {
	const one = {a: {command: 'x'}};
	for (const given of [{mcpServers: one}, {mcpServers: one, servers: {}}, {servers: one, mcpServers: null}])
		t.deepEqual([...configOf(given).services.keys()], ['a']);
	t.deepEqual(wrongs({servers: one, mcpServers: one}), [
		'mcpServers: This is another name of servers. Use one of the two.',
	]);
});

for (const name of ['a', '0', 'a_b-c', 'constructor', 'tostring', 'x'.repeat(64)])
	test(`a service may be called ${name} [B12]`, t => {
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
	test(`a service may not be called ${JSON.stringify(name)} [B12]`, t => {
		const found = wrongs({servers: {[name]: {command: 'x'}}});
		t.is(found.length, 1);
		t.regex(found[0] ?? '', /The name of a server is part of its URL/);
	});

test('a name that is refused comes with one that would do', t => {
	t.regex(wrongs({servers: {'My Server!': {command: 'x'}}})[0] ?? '', / my-server would do\.$/);
});

for (const [given, key] of [
	[{tokens: ['a-token-of-sixteen', 'fifteen-letters']}, 'tokens.1'],
	[{secret: 'fifteen-letters'}, 'secret'],
	[{secret: 'a secret of some length\nfifteen-letters'}, 'secret'],
] as const)
	test(`rejects ${JSON.stringify(given)}, and prints how to make a longer one [SEC-D21]`, t => {
		const [wrong = ''] = wrongs(given);
		t.true(wrong.startsWith(`${key}: Expected`), wrong);
		t.regex(wrong, /16 characters or more.*openssl rand -hex 16/);
		t.false(wrong.includes('fifteen'));
	});

test('packs are looked for beside the file', t => {
	t.is(configOf({packs: './packs'}).packs, '/etc/bridge/packs');
	t.is(configOf({packs: '/abs'}).packs, '/abs');
});

test('$schema, which editors use, is passed over without a word', t => {
	t.deepEqual(resolveConfig({$schema: 'https://x'}, folder).warnings, []);
});

test('a store that cannot be read in full is told of, and never shown [K2]', t => {
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
		const [found = '', ...others] = wrongs({secret, store});
		t.deepEqual(others, []);
		t.regex(found, /^store: Expected a URL that begins with redis:\/\/ or rediss:\/\//);
		t.false(found.includes('100%'));
	}
});

test('a client gets half of each limit if there are several tokens [SEC-D18]', t => {
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
