import test from 'ava';
import {beginMany} from '../e2e/gateway/begin-many.js';
import {program, startGateway} from '../helpers/gateway.js';
import {peakMiB} from '../helpers/program.js';

test.serial('serves 20,000 abandoned sessions, a hundred at a time, in bounded memory [C9]', async t => {
	t.timeout(300_000);
	const servers = {puppet: {...program('puppet'), shared: true}};
	// The heap is small enough that leaked sessions would exhaust it.
	const gateway = await startGateway(
		t,
		{servers, limits: {sessions: 100}},
		{nodeArgs: ['--max-old-space-size=96']},
	);
	t.deepEqual(await beginMany(gateway, 20_000), new Set([200]));
	t.true(peakMiB(gateway.running.pid) < 250, `${peakMiB(gateway.running.pid)}`);
	const session = await gateway.open('puppet');
	t.deepEqual((await session.request(1, 'echo', {a: 1})).result, {a: 1});
});
