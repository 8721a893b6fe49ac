import test from 'ava';
import {errorIn, namesIn, shop, startHub} from './support.js';

const two = {expose: 'tools', servers: {wix: shop('wix'), notion: shop('notion')}};

test('resources of all servers are in one list, and each is read where it is', async t => {
	const hub = await startHub(t, two);
	t.like(await hub.ask('resources/list'), {
		result: {resources: [{uri: 'shop://wix/stock'}, {uri: 'shop://notion/stock'}]},
	});
	t.like(await hub.ask('resources/read', {uri: 'shop://notion/stock'}), {
		result: {contents: [{text: 'shop://notion/stock of notion'}]},
	});
});

test('a resource that only a template speaks of is read where the template is from', async t => {
	const hub = await startHub(t, two);
	t.like(await hub.ask('resources/read', {uri: 'shop://notion/item/7'}), {
		result: {contents: [{text: 'shop://notion/item/7 of notion'}]},
	});
	t.is(errorIn(await hub.ask('resources/read', {uri: 'other://thing'})).code, -32002);
});

test('prompts of all servers are in one list, named after their servers', async t => {
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

test('completions are asked where the prompt or the resource is', async t => {
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

test('what a server asks in a call is asked of the client, and its answer reaches that server', async t => {
	const hub = await startHub(t, two, {capabilities: {elicitation: {}}});
	const answers = ['wix', 'notion'].map(server => hub.call(`${server}__ask`));
	const questions = await Promise.all(
		['wix', 'notion'].map(server =>
			hub.running.message(({id, method}) => method === 'elicitation/create' && String(id).startsWith(server)),
		),
	);
	for (const {id} of questions)
		hub.running.send({id, result: {action: 'accept', content: {colour: `${id}`}}});
	const texts = (await Promise.all(answers)).map(answer => JSON.stringify(answer.result));
	t.regex(texts[0] ?? '', /accept.*wix-/);
	t.regex(texts[1] ?? '', /accept.*notion-/);
	await hub.running.says(/wix client \{"elicitation"/);
});

test('servers are told what the client can do, and nothing else', async t => {
	const hub = await startHub(t, two);
	await hub.toolNames();
	await hub.running.says(/wix client \{\}/);
	t.pass();
});

test('log messages say which server they are from, and all servers hear how much is wanted', async t => {
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

test('servers are added and removed when the file changes, and the others stay', async t => {
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
	test(`a client of ${version} is spoken to in its own version`, async t => {
		const hub = await startHub(t, two, {version});
		t.like(hub.welcome, {result: {protocolVersion: version}});
		t.is((await hub.toolNames()).length, 24);
	});
