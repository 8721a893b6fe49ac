import test from 'ava';
import {messageIn, startGateway} from '../../helpers/gateway.js';
import {shop, textIn} from './support.js';

const LONG = 'q'.repeat(400_000);

for (const [what, command, expected] of [
	['an unknown tool with a name of 400 KB', `wix.${LONG}()`, /^Error.*ToolNotFound: Tool 'q/],
	['a server with a name of 400 KB', `proxy.help("${LONG}")`, /^Error.*ValueError: Server 'q/],
	['a search for 100,000 words', `proxy.search("${'word '.repeat(100_000)}")`, /^\[\]$/],
] as const)
	test(`${what} does not block other clients [SEC-D12]`, async t => {
		const servers = {wix: shop('wix', '--tools=2000'), notion: shop('notion')};
		const gateway = await startGateway(t, {expose: 'both', servers, runTimeout: '10m'});
		const [one, other] = [await gateway.open(''), await gateway.open('')];
		const run = one.post({id: 1, method: 'tools/call', params: {name: 'run', arguments: {command}}});
		t.like(await other.request(2, 'tools/call', {name: 'notion__list_sites', arguments: {}}), {
			result: {content: [{type: 'text'}]},
		});
		t.regex(textIn(messageIn(await run)), expected);
	});

test('rejects unknown tools and prompts with names of 16 MB [SEC-D12]', async t => {
	const gateway = await startGateway(t, {expose: 'both', servers: {wix: shop('wix', '--tools=2000')}});
	const client = await gateway.open('');
	const name = 'q'.repeat(16_000_000);
	t.like(await client.request(1, 'tools/call', {name, arguments: {}}), {error: {code: -32602}});
	t.like(await client.request(2, 'prompts/get', {name}), {error: {code: -32602}});
});
