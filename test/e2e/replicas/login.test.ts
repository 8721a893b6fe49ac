import test from 'ava';
import {program} from '../../helpers/gateway.js';
import {startReplica, startReplicas} from './support.js';

const config = {servers: {puppet: program('puppet')}, tokens: ['t0ken-of-sixteen-characters']};

test('a login at one replica is valid at all replicas with the same secret [M1]', async t => {
	const [one, two] = await startReplicas(t, 2, config);
	const other = await startReplica(t, {...config, secret: 'a different shared secret'});
	if (!one || !two) throw new Error('Two replicas are required.');
	const body = new URLSearchParams({token: 't0ken-of-sixteen-characters'});
	const {headers} = await fetch(one.base, {method: 'POST', body, redirect: 'manual'});
	const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? '';
	for (const gateway of [one, two]) t.is((await gateway.fetch('/status', {headers: {cookie}})).status, 200);
	t.is((await other.fetch('/status', {headers: {cookie}})).status, 401);
	t.false(cookie.includes('t0ken-of-sixteen-characters'));
	for (const wrong of [`${cookie}A`, 'bridge_login=b1.', 'bridge_login='])
		t.is((await two.fetch('/status', {headers: {cookie: wrong}})).status, 401, wrong);
});
