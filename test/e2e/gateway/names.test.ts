import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {program, shareGateway} from '../../helpers/gateway.js';
import {bodyIn, common, configFile, initialize, request, statusOf} from '../../helpers/raw-requests.js';

const shared = shareGateway({servers: {puppet: program('puppet')}});

const unknownPaths = [
	'/mcp/constructor',
	'/mcp/__proto__',
	'/mcp/prototype',
	'/mcp/toString',
	'/mcp/hasOwnProperty',
	'/mcp/..',
	'/mcp/../mcp/puppet',
	'/mcp/./puppet',
	'/mcp/%2e%2e/etc/passwd',
	'/mcp/%2e%2e',
	'/mcp/..%2fpuppet',
	'/mcp/puppet%2f',
	'/mcp//puppet',
	'/mcp/puppet//',
	'/mcp//',
	'/mcp/%70uppet',
	'/mcp/puppet%00',
	'/mcp/puppet;a=b',
	'/mcp/Puppet',
	'/mcp/PUPPET',
	'/MCP/puppet',
	'/mcp/рuppet',
	'/mcp/puppet.',
	'/mcp/puppet/sse//',
	'/mcp/puppet/other',
	'/mcp/-puppet',
	'/mcp\\puppet',
	'/mcp/puppet\\..',
	`/mcp/${'a'.repeat(10_240)}`,
	'/etc/passwd',
	'/../../etc/passwd',
	'/mcp/file:',
	'/mcp/http:evil.example',
	'/.well-known/oauth-protected-resource',
	'/.well-known/x/mcp/puppet',
	'/mcp/mcp',
	'/status/mcp',
	'/healthz/mcp',
	'/metrics/mcp',
	'/sse/mcp',
	'/puppet/mcp/x',
	'/puppet//mcp',
	'/favicon.ico',
	'/status/',
	'/Status',
	'/healthz/..',
	'/metrics/x',
	'/constructor',
	'/__proto__',
];

for (const path of unknownPaths)
	test(`rejects the path ${path.slice(0, 40)} [B12]`, async t => {
		const text = await shared().raw(Buffer.from(request(`POST ${path}`, common, initialize), 'utf8'));
		t.true([404, 400].includes(statusOf(text)), text);
		t.notRegex(bodyIn(text), /passwd|evil|constructor|__proto__|aaaa/);
	});

test('replies to an unknown service with the names of known ones, and does not echo the unknown one [B12]', async t => {
	const [one, other] = [await shared().fetch('/mcp/one'), await shared().fetch('/mcp/other')];
	t.is(one.status, 404);
	t.is(one.text, other.text);
	t.deepEqual(JSON.parse(one.text).error.data.services, ['puppet']);
});

test('starts no child for unknown services [B12]', async t => {
	await shared().fetch('/mcp/other');
	const {services, sessions} = JSON.parse((await shared().fetch('/status')).text);
	t.deepEqual([Object.keys(services), sessions, services.puppet.state], [['puppet'], 0, 'idle']);
});

for (const name of ['../etc', 'Files', 'a b', 'a/b', '-a', '_a', 'é', '', 'a'.repeat(65), 'a.b'])
	test(`rejects the server name "${name.slice(0, 20)}" at startup [B12]`, async t => {
		const config = JSON.stringify({listen: '127.0.0.1:0', servers: {[name]: {command: 'true'}}});
		const {code, stderr, stdout} = await runBridge(['gateway', '--config', await configFile(t, config)]);
		t.is(code, 2);
		t.regex(stderr, /Invalid server name/);
		t.deepEqual(stdout, []);
	});
