import test, {type ExecutionContext} from 'ava';
import {GuessLimiter} from '../../../lib/http/login/guess-limiter.js';
import {LOGIN_LIFETIME_MS, LoginCookies} from '../../../lib/http/login/login-cookies.js';
import {startReplicas} from '../../e2e/replicas/support.js';
import {runBridge} from '../../helpers/bridge.js';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {configFile} from '../../helpers/raw-requests.js';

const token = 'a-token-of-sixteen-characters';
const config = {tokens: [token], servers: {puppet: program('puppet')}};

const guess = (gateway: RunningGateway, text: string): ReturnType<RunningGateway['fetch']> =>
	gateway.fetch('/', {method: 'POST', body: new URLSearchParams({token: text}), redirect: 'manual'});

const logIn = async (gateway: RunningGateway): Promise<string> =>
	(await guess(gateway, token)).headers.get('set-cookie')?.split(';', 1)[0] ?? '';

const isLoggedIn = async (gateway: RunningGateway, cookie: string): Promise<boolean> =>
	(await gateway.fetch('/status', {headers: {cookie}})).status === 200;

/** Logs a browser out, and resolves to the Set-Cookie header of the response. */
async function logOut(t: ExecutionContext, gateway: RunningGateway, cookie: string): Promise<string> {
	const {status, headers} = await gateway.fetch('/logout', {
		method: 'POST',
		headers: {cookie},
		redirect: 'manual',
	});
	t.is(status, 303);
	t.is(headers.get('location'), '/');
	return headers.get('set-cookie') ?? '';
}

test('limits login attempts from one address, also with valid tokens, and keeps existing logins [SEC-D21]', async t => {
	const gateway = await startGateway(t, config);
	const cookie = await logIn(gateway);
	for (let count = 0; count < 10; count++) t.is((await guess(gateway, `guess ${count}`)).status, 401);
	for (const text of ['guess', token]) {
		const {status, headers} = await guess(gateway, text);
		t.is(status, 429);
		t.true(Number(headers.get('retry-after')) > 0);
	}
	t.true(await isLoggedIn(gateway, cookie));
	t.is((await gateway.fetch('/status', {headers: {'x-bridge-token': token}})).status, 200);
});

test('limits login attempts of all addresses together, for a minute [SEC-D21]', t => {
	let now = 0;
	const guesses = new GuessLimiter(() => now);
	for (let count = 0; count < 100; count++) {
		t.is(guesses.waitMs(`10.0.0.${count}`), 0);
		guesses.countFailure(`10.0.0.${count}`);
	}
	t.is(guesses.waitMs('10.0.1.1'), 60_000);
	now = 60_000;
	t.is(guesses.waitMs('10.0.1.1'), 0);
});

test('logs out one browser, and no other [SEC-D21]', async t => {
	const gateway = await startGateway(t, config);
	const [one, two] = [await logIn(gateway), await logIn(gateway)];
	t.true(await isLoggedIn(gateway, one));
	t.regex(await logOut(t, gateway, one), /^bridge_login=;.*Max-Age=0/);
	t.false(await isLoggedIn(gateway, one));
	t.true(await isLoggedIn(gateway, two));
	t.regex((await gateway.fetch('/', {headers: {cookie: one}})).text, /type="password"/);
	t.is((await gateway.fetch('/logout', {headers: {cookie: two}})).status, 405);
	const origin = 'http://evil.example';
	t.is((await gateway.fetch('/logout', {method: 'POST', headers: {cookie: two, origin}})).status, 403);
	t.true(await isLoggedIn(gateway, two));
});

test('rejects a sealed cookie, or a part of it, after logout [SEC-D21]', async t => {
	const secret = 'the next secret of all\na secret that all replicas share';
	const [one, two] = await startReplicas(t, 2, {...config, secret});
	if (!one || !two) throw new Error('There are two.');
	const cookie = await logIn(one);
	const [, value = ''] = cookie.split('=');
	const parts = value.split(',');
	t.is(parts.length, 2, 'the cookie is sealed with each secret');
	const forms = [
		cookie,
		...parts.map(part => `bridge_login=${part}`),
		`bridge_login=${parts.reverse().join(',')}`,
	];
	for (const form of forms) t.true(await isLoggedIn(one, form));
	await logOut(t, one, cookie);
	for (const form of forms) t.false(await isLoggedIn(one, form));
	t.true(await isLoggedIn(two, cookie), 'without a store, the other replica is not notified');
});

test('a login expires after 24 hours [SEC-D21]', t => {
	let now = 1e12;
	const cookies = new LoginCookies(undefined, () => now);
	const value = cookies.issue(token);
	now += LOGIN_LIFETIME_MS - 1;
	t.is(cookies.tokenOf(value), token);
	now += 1;
	t.is(cookies.tokenOf(value), undefined);
	t.is(LOGIN_LIFETIME_MS, 24 * 3600 * 1000);
});

for (const [key, settings] of [
	['tokens[0]', {tokens: [`$\{SHORT}`]}],
	['secret', {secret: `$\{SHORT}`}],
] as const)
	test(`rejects a short value of a variable in ${key}, with exit code 2 [SEC-D21]`, async t => {
		const file = await configFile(t, JSON.stringify(settings));
		const env = {...process.env, SHORT: 'fifteen-letters'};
		for (const args of [
			['gateway', '--config', file],
			['config', '--check', file],
		]) {
			const {code, stderr} = await runBridge(args, '', {env});
			t.is(code, 2);
			t.true(stderr.includes(`${key}: Expected`), stderr);
			t.regex(stderr, /16 characters or more.*openssl rand -hex 16/);
			t.notRegex(stderr, /fifteen/);
		}
	});

test('rejects a file with a short secret, with exit code 2 [SEC-D21]', async t => {
	const secret = `file:${await configFile(t, 'fifteen-letters')}`;
	const file = await configFile(t, JSON.stringify({secret}));
	const {code, stderr} = await runBridge(['gateway', '--config', file]);
	t.is(code, 2);
	t.regex(stderr, /fewer than 16 characters.*openssl rand -hex 16/);
});
