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
	test(`rejects a request from the origin "${origin}" and does not forward it [B2]`, async t => {
		const text = await shared().raw(post([`Origin: ${origin}`]));
		t.is(statusOf(text), 403);
		const reply = JSON.parse(bodyIn(text));
		t.false('id' in reply);
		t.is(typeof reply.error.message, 'string');
		t.is(await sessionsOf(shared(), 'puppet'), 0);
	});

test('rejects a request with two origins, even if each one is allowed [B2]', async t => {
	const headers = ['Origin: http://localhost', 'Origin: http://127.0.0.1'];
	t.is(statusOf(await shared().raw(post(headers))), 403);
});

test('logs a rejected origin [B2]', async t => {
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
	test(`accepts a request from the local or allowed origin ${origin} [B2]`, async t => {
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
	test(`rejects a request for the host "${host}" [B3]`, async t => {
		t.is(statusOf(await shared().raw(post().replace('Host: localhost', `Host: ${host}`))), 403);
		t.is(await sessionsOf(shared(), 'puppet'), 0);
	});

for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1:7411', '127.1.2.3', '[::1]', '[::1]:7411'])
	test(`accepts a request for the local host ${host} [B3]`, async t => {
		t.is(statusOf(await shared().raw(request('GET /healthz', [], '', `Host: ${host}`))), 200);
	});

test('rejects a request without a host [B3]', async t => {
	t.is(statusOf(await shared().raw(request('GET /healthz', [], '', ''))), 400);
});

test('rejects a request with two hosts, even if they are the same [B3]', async t => {
	t.is(statusOf(await shared().raw(request('GET /healthz', ['Host: localhost']))), 400);
	t.is(statusOf(await shared().raw(request('GET /healthz', ['host: evil.example']))), 400);
});

for (const target of [
	'http://evil.example/healthz',
	'http://localhost/healthz',
	'*',
	'//evil.example/healthz',
])
	test(`rejects the target ${target}, which is not a path [B3]`, async t => {
		t.is(statusOf(await shared().raw(request(`GET ${target}`))), 400);
	});

test('serves requests at an IPv6 address [B3]', async t => {
	const gateway = await startGateway(t, {listen: '[::1]:0', servers: {puppet: program('puppet')}});
	t.is(gateway.base.hostname, '[::1]');
	t.is(statusOf(await gateway.raw(request('GET /healthz', [], '', `Host: ${gateway.base.host}`))), 200);
	t.is(statusOf(await gateway.raw(request('GET /healthz', [], '', 'Host: evil.example'))), 403);
});
