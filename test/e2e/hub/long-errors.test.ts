import test from 'ava';
import {messageIn, startGateway} from '../../helpers/gateway.js';
import {logged, shop} from './support.js';

test('a tool error of 32 MiB of token-like text does not block other clients [SEC-D11]', async t => {
	const gateway = await startGateway(t, {
		expose: 'tools',
		servers: {wix: shop('wix'), notion: shop('notion')},
	});
	const [one, other] = [await gateway.open(''), await gateway.open('')];
	const args = {reason: 'eyJ-', times: 2 ** 23};
	const failed = one.post({id: 1, method: 'tools/call', params: {name: 'wix__fail', arguments: args}});
	t.like(await other.request(2, 'tools/call', {name: 'notion__list_sites', arguments: {}}), {
		result: {content: [{type: 'text'}]},
	});
	t.like(messageIn(await failed), {result: {isError: true}});
	t.like(await other.request(3, 'ping'), {result: {}});
	await gateway.running.says(/wix\.fail responded with an error/);
	const [entry] = logged(gateway.running, 'proxy.tool.call').filter(({status}) => status === 'FAILED');
	t.is(String(entry?.errorMessage).length, 300);
	t.is(await gateway.stop(), 0);
});
