import test from 'ava';
import {shop, startHub} from './support.js';

test('lists the tools of an upstream that has 4 MB of escapes in one description [SEC-D11]', async t => {
	const servers = {wix: shop('wix', '--escapes=2000000')};
	const hub = await startHub(t, {expose: 'tools', servers});
	const names = await hub.toolNames();
	t.true(names.includes('wix__lengthy'));
	t.true(names.includes('wix__search'));
	t.is(await hub.running.end(), 0);
});

test('lists 9,900 tools of one upstream and routes calls to them [SEC-D11]', async t => {
	const servers = {wix: shop('wix', '--tools=9900'), notion: shop('notion')};
	const hub = await startHub(t, {expose: 'tools', servers});
	const {length} = await hub.toolNames();
	t.is(length, 9900 + 2 * 12);
	t.like(await hub.call('notion__search', {query: 'x'}), {
		result: {content: [{text: '{"hits":["notion: x"]}'}]},
	});
	t.is(await hub.running.end(), 0);
});
