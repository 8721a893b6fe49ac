import test from 'ava';
import {program, shareGateway, startGateway} from '../../helpers/gateway.js';
import {logged, until} from '../../helpers/program.js';
import {bodyIn, post, request, sessionsOf, statusOf} from '../../helpers/raw-requests.js';

const shared = shareGateway({
	servers: {puppet: program('puppet')},
	origins: ['https://app.example.com', 'https://*.example.org', 'http://dev.example.net:*'],
});

const foreignOrigins = [
	'http://evil.example',
	'null',
	'http://localhost.evil.example',
	'http://localhost@evil.example',
	'http://evil.example#localhost',
	'http://127.0.0.1.evil.example',
	'file://',
	'http://localhost:99999999',
	'https://app.example.com.evil.example',
	'https://evilapp.example.com',
	'http://app.example.com',
	'https://example.org',
	'https://evil.example/.example.org',
	'https://xexample.org',
	'http://dev.example.net:80.evil.example',
	'https://dev.example.net',
	'',
	'localhost',
];

for (const origin of foreignOrigins)
	test(`a request from the origin "${origin}" is refused, and nothing reaches the server [B2]`, async t => {
		const text = await shared().raw(post([`Origin: ${origin}`]));
		t.is(statusOf(text), 403);
		const answer = JSON.parse(bodyIn(text));
		t.false('id' in answer);
		t.is(typeof answer.error.message, 'string');
		t.is(await sessionsOf(shared(), 'puppet'), 0);
	});

test('a request from two origins is refused, even if each alone is allowed [B2]', async t => {
	const headers = ['Origin: http://localhost', 'Origin: http://127.0.0.1'];
	t.is(statusOf(await shared().raw(post(headers))), 403);
});

test('a refused origin is logged [B2]', async t => {
	await shared().raw(request('GET /healthz', ['Origin: http://logged.example']));
	const isLogged = (): boolean =>
		logged(shared().running, 'http.origin_rejected').some(({origin}) => origin === 'http://logged.example');
	await t.notThrowsAsync(until(isLogged));
});

for (const origin of [
	'http://localhost',
	'http://localhost:3000',
	'https://127.0.0.1:1',
	'http://[::1]:8080',
	'https://app.example.com',
	'https://a.example.org',
	'https://a.b.example.org',
	'http://dev.example.net',
	'http://dev.example.net:5173',
])
	test(`a request from the origin ${origin}, which is of this machine or allowed, is taken [B2]`, async t => {
		t.is(statusOf(await shared().raw(request('GET /healthz', [`Origin: ${origin}`]))), 200);
	});

for (const host of [
	'evil.example',
	'localhost.evil.example',
	'127.0.0.1.evil.example',
	'localhost@evil.example',
	'localhost.',
	'127.999.0.1',
	'[::2]',
	'[::1',
	'localhost:123456',
	'localhost:',
	'localhost evil',
	'',
	'0.0.0.0',
	'app.example.com',
	'localhost,evil.example',
])
	test(`a request for the host "${host}" is refused [B3]`, async t => {
		t.is(statusOf(await shared().raw(post().replace('Host: localhost', `Host: ${host}`))), 403);
		t.is(await sessionsOf(shared(), 'puppet'), 0);
	});

for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1:7411', '127.1.2.3', '[::1]', '[::1]:7411'])
	test(`a request for ${host}, which is this machine, is taken [B3]`, async t => {
		t.is(statusOf(await shared().raw(request('GET /healthz', [], '', `Host: ${host}`))), 200);
	});

test('a request without a host is refused [B3]', async t => {
	t.is(statusOf(await shared().raw(request('GET /healthz', [], '', ''))), 400);
});

test('a request with two hosts is refused, even if they are the same [B3]', async t => {
	t.is(statusOf(await shared().raw(request('GET /healthz', ['Host: localhost']))), 400);
	t.is(statusOf(await shared().raw(request('GET /healthz', ['host: evil.example']))), 400);
});

for (const target of [
	'http://evil.example/healthz',
	'http://localhost/healthz',
	'*',
	'//evil.example/healthz',
])
	test(`the target ${target}, which is no path, is refused [B3]`, async t => {
		t.is(statusOf(await shared().raw(request(`GET ${target}`))), 400);
	});

test('a gateway on an address of IPv6 is found under it [B3]', async t => {
	const gateway = await startGateway(t, {listen: '[::1]:0', servers: {puppet: program('puppet')}});
	t.is(gateway.base.hostname, '[::1]');
	t.is(statusOf(await gateway.raw(request('GET /healthz', [], '', `Host: ${gateway.base.host}`))), 200);
	t.is(statusOf(await gateway.raw(request('GET /healthz', [], '', 'Host: evil.example'))), 403);
});
