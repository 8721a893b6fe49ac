import test from 'ava';
import fc from 'fast-check';
import {parseNumberParameter, QueryError} from '../../lib/view/query.js';
import {program, startGateway} from '../helpers/gateway.js';
import {eventLine, logFile, messageLine} from './logs.js';
import {startView} from './view.js';

const log = [eventLine('open'), messageLine({id: 1, method: 'a'}, {line: 1})];

/** Values that are neither a count nor a position. */
const hostile = ['-1', 'NaN', '1.5', '1e3', '99999999999999999999', 'Infinity', '', '%00', '0x10', '1&row=2'];

test('rejects invalid numbers in query parameters, and keeps running [SEC-D22]', async t => {
	const view = await startView(t, logFile(t, `${log.join('\n')}\n`));
	await view.found('', log.length);
	const paths = ['line', 'place', 'export'].map(name => `/view/${name}?row=`);
	for (const path of paths)
		for (const value of hostile) {
			const response = await view.fetch(path + value);
			t.is(response.status, 400, path + value);
			t.regex(await response.text(), /parameter \\"row\\" must be one whole number/, path + value);
		}
	for (const query of ['export?from=-1', 'export?to=x', 'rows?from=-1', 'rows?count=NaN', 'latency?parts=-5'])
		t.is((await view.fetch(`/view/${query}`)).status, 400, query);
	t.is((await view.fetch('/view/export?row=9007199254740991')).status, 404);
	t.is((await view.fetch('/view/line?row=2')).status, 404);
	t.is((await view.fetch('/view/rows?from=9007199254740991&count=9007199254740991')).status, 200);
	t.is(await (await view.fetch('/view/export?from=5&to=2')).text(), '');
	t.is(await (await view.fetch('/view/export?row=1')).text(), `${log.join('\n')}\n`);
});

test('pages of the gateway respond to hostile paths and queries with a status [SEC-D22]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const paths = [
		'/status?x=%',
		'/metrics?%00',
		'/healthz?a=1&a=2',
		'/view/export?row=-1',
		'/view/',
		'/view/..%2f..%2fetc/passwd',
		'/view/%',
		'/view/line?row=NaN',
		'/mcp/puppet?%ff',
		'/mcp/%E0%A4%A',
		'/mcp/puppet/message?sessionId=1&sessionId=2',
		`/view/rows?text=${'x'.repeat(5000)}`,
	];
	for (const path of paths) {
		const {status} = await gateway.fetch(path);
		t.true(status === 200 || (status >= 400 && status < 500), `${path}: ${status}`);
	}
	t.is((await gateway.fetch('/healthz')).status, 200);
});

test('a number in a query is a safe integer or an error, for any input [SEC-D22]', t => {
	fc.assert(
		fc.property(
			fc.array(fc.oneof(fc.string(), fc.double().map(String), fc.integer().map(String))),
			values => {
				const query = new URLSearchParams(values.map((value): [string, string] => ['row', value]));
				try {
					const value = parseNumberParameter(query, 'row');
					return Number.isSafeInteger(value) && value >= 0 && values.length <= 1;
				} catch (error) {
					return error instanceof QueryError;
				}
			},
		),
	);
	t.pass();
});
