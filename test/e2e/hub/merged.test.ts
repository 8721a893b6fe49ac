import test from 'ava';
import {errorIn, namesIn, shop, startHub} from './support.js';

const two = {expose: 'tools', servers: {wix: shop('wix'), notion: shop('notion')}};

test('lists the resources of all upstreams together and reads each from its upstream', async t => {
	const hub = await startHub(t, two);
	t.like(await hub.ask('resources/list'), {
		result: {resources: [{uri: 'shop://wix/stock'}, {uri: 'shop://notion/stock'}]},
	});
	t.like(await hub.ask('resources/read', {uri: 'shop://notion/stock'}), {
		result: {contents: [{text: 'shop://notion/stock of notion'}]},
	});
});

test('reads a resource that only matches a template from the upstream of the template', async t => {
	const hub = await startHub(t, two);
	t.like(await hub.ask('resources/read', {uri: 'shop://notion/item/7'}), {
		result: {contents: [{text: 'shop://notion/item/7 of notion'}]},
	});
	t.is(errorIn(await hub.ask('resources/read', {uri: 'other://thing'})).code, -32002);
});

test('lists the prompts of all upstreams together, prefixed with the service name', async t => {
	const hub = await startHub(t, two);
	t.deepEqual(namesIn(await hub.ask('prompts/list'), 'prompts'), ['wix__greet', 'notion__greet']);
	t.like(await hub.ask('prompts/get', {name: 'notion__greet'}), {
		result: {messages: [{content: {text: 'greet from notion'}}]},
	});
	t.is(
		errorIn(await hub.ask('prompts/get', {name: 'notion__gret'})).message,
		'Unknown prompt: notion__gret. Did you mean notion__greet?',
	);
});

test('routes completion requests to the upstream of the prompt or resource', async t => {
	const hub = await startHub(t, two);
	const argument = {name: 'who', value: ''};
	t.like(await hub.ask('completion/complete', {ref: {type: 'ref/prompt', name: 'notion__greet'}, argument}), {
		result: {completion: {values: ['notion value']}},
	});
	const ref = {type: 'ref/resource', uri: 'shop://wix/item/{id}'};
	t.like(await hub.ask('completion/complete', {ref, argument}), {
		result: {completion: {values: ['wix value']}},
	});
});

test('forwards server requests during a call to the client and routes each response back', async t => {
	const hub = await startHub(t, two, {capabilities: {elicitation: {}}});
	const responses = ['wix', 'notion'].map(server => hub.call(`${server}__ask`));
	const requests = await Promise.all(
		['wix', 'notion'].map(server =>
			hub.running.message(({id, method}) => method === 'elicitation/create' && String(id).startsWith(server)),
		),
	);
	for (const {id} of requests) hub.running.send({id, result: {action: 'accept', content: {colour: `${id}`}}});
	const texts = (await Promise.all(responses)).map(({result}) => JSON.stringify(result));
	t.regex(texts[0] ?? '', /accept.*wix-/);
	t.regex(texts[1] ?? '', /accept.*notion-/);
	await hub.running.says(/wix client \{"elicitation"/);
});

test('sends exactly the capabilities of the client to upstreams', async t => {
	const hub = await startHub(t, two);
	await hub.toolNames();
	await hub.running.says(/wix client \{\}/);
	t.pass();
});

test('names the upstream in log messages and sends the log level to all upstreams', async t => {
	const hub = await startHub(t, two);
	await hub.toolNames();
	t.deepEqual((await hub.ask('logging/setLevel', {level: 'debug'})).result, {});
	await hub.running.says(/wix level debug/);
	await hub.running.says(/notion level debug/);
	await hub.call('notion__log');
	t.like(await hub.running.message(({method}) => method === 'notifications/message'), {
		params: {level: 'info', logger: 'notion/till', data: 'sold'},
	});
});

test('adds and removes upstreams when the configuration file changes and keeps the others', async t => {
	const hub = await startHub(t, two);
	await hub.toolNames();
	await hub.configure({...two, servers: {notion: shop('notion'), third: shop('third')}});
	await hub.running.says(/"server":"third","type":"stdio","toolCount":12/);
	await hub.running.message(({method}) => method === 'notifications/tools/list_changed');
	const names = await hub.toolNames();
	t.deepEqual([...new Set(names.map(name => name.split('__')[0]))], ['notion', 'third']);
	await hub.running.says(/notion client/);
	t.is(hub.running.stderr.match(/notion client/g)?.length, 1);
});

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
	test(`negotiates ${version} with a client that requests it`, async t => {
		const hub = await startHub(t, two, {version});
		t.like(hub.welcome, {result: {protocolVersion: version}});
		t.is((await hub.toolNames()).length, 24);
	});
