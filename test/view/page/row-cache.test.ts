import {once} from 'node:events';
import {createServer, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import test from 'ava';
import {emptyFilter} from '../../../lib/view/page/model.js';
import {RowCache} from '../../../lib/view/page/row-cache.js';
import {until} from '../../helpers/program.js';

test.serial('refetches the last page if rows were added while it was being fetched', async t => {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => server.close());
	const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	// Browsers resolve relative URLs. Node rejects them.
	const {fetch} = globalThis;
	t.teardown(() => {
		globalThis.fetch = fetch;
	});
	globalThis.fetch = (path, options) => fetch(new URL(String(path), base), options);

	const totals: number[] = [];
	const cache: RowCache = new RowCache(() => totals.push(cache.total));
	const nextRequest = async (): Promise<ServerResponse> => (await once(server, 'request'))[1];
	const respond = (response: ServerResponse, total: number): void => {
		const rows = Array.from({length: total}, (_, row) => ({row, status: ''}));
		response.setHeader('connection', 'close').end(JSON.stringify({total, share: 1, from: 0, rows}));
	};
	let request = nextRequest();
	cache.reset(emptyFilter);
	const first = await request;
	cache.refresh();
	request = nextRequest();
	respond(first, 1);
	respond(await request, 2);
	await until(() => totals.length === 2);
	t.deepEqual(totals, [1, 2]);
	t.is(cache.at(1)?.row, 1);
});
