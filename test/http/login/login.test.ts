import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import test from 'ava';
import {Login} from '../../../lib/http/login/login.js';

test('a login ends when its token is removed from the configuration', async t => {
	const tokens = new Set(['one', 'two']);
	const login = new Login({
		isRequired: () => true,
		isToken: text => tokens.has(text),
		servePage: res => void res.end('the page'),
	});
	const server = createServer((req, res) => void login.serveFrontPage(req, res)).listen(0, '127.0.0.1');
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	await new Promise(resolve => server.once('listening', resolve));
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
	const body = new URLSearchParams({token: 'one'});
	const {headers} = await fetch(url, {method: 'POST', body, redirect: 'manual'});
	const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? '';
	const page = async (): Promise<string> => (await fetch(url, {headers: {cookie}})).text();
	t.regex(await page(), /the page/);
	tokens.delete('one');
	t.regex(await page(), /type="password"/);
});
