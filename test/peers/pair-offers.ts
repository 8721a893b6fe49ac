import {isDeepStrictEqual} from 'node:util';
import {isModern, promptsOf, toolsOf} from './eras.js';
import {errorCode, type Pair} from './pair.js';
import {sameAudio, sameLink} from './pair-content.js';

/*
 * The features of a server, by the version of the client: initialization, lists, resources, prompts,
 * completion.
 */

export async function checkGreeting({t, client, server}: Pair): Promise<void> {
	t.is(client.negotiated(), client.version);
	const name = isModern(server) ? 'bridge-fixture-modern' : 'bridge-fixture';
	t.like(client.sdk.getServerVersion(), {name, version: '1.0.0'});
	const capabilities = client.sdk.getServerCapabilities();
	for (const capability of ['tools', 'resources', 'prompts', 'logging']) {
		t.truthy(capabilities?.[capability], capability);
	}

	// Completion is a capability since 2025-03-26, and newer clients check it before they send a request.
	t.true(client.version < '2025-03-26' || capabilities?.completions !== undefined, 'completions');
	if (isModern(client.version)) {
		t.true((await client.sdk.discover?.())?.supportedVersions.includes(client.version));
	}
}

export async function checkToolList({t, client, server}: Pair): Promise<void> {
	const {tools} = await client.sdk.listTools();
	t.deepEqual(tools.map(tool => tool.name).sort(), toolsOf(server));
	const array = tools.find(tool => tool.name === 'bridge_array_output');
	if (array && !isModern(client.version) && client.version >= '2025-06-18') {
		// Before 2026-07-28, structured content must be an object.
		t.like(array.outputSchema, {type: 'object', required: ['result']});
	}
}

export async function checkResources({t, client, server}: Pair): Promise<void> {
	const {resources} = await client.sdk.listResources();
	t.deepEqual(
		resources.map(resource => resource.uri),
		['test://static-text', 'test://static-binary'],
	);
	const {resourceTemplates} = await client.sdk.listResourceTemplates();
	t.deepEqual(
		resourceTemplates.map(template => template.uriTemplate),
		['test://template/{id}/data'],
	);
	const read = async (uri: string) => (await client.sdk.readResource({uri})).contents;
	t.like(await read('test://static-text'), [{text: 'This is the content of the static text.'}]);
	const [binary] = await read('test://static-binary');
	t.true(String(Reflect.get(Object(binary), 'blob')).startsWith('iVBOR'));
	t.like(await read('test://template/7/data'), [{text: '{"id":"7","templateTest":true}'}]);
	const modernCode = isModern(client.version) || isModern(server);
	t.is(await errorCode(read('test://nowhere')), modernCode ? -32602 : -32002);
}

export async function checkPrompts({t, client, server}: Pair): Promise<void> {
	const {prompts} = await client.sdk.listPrompts();
	t.deepEqual(prompts.map(prompt => prompt.name).sort(), promptsOf(server));
	const get = async (name: string, args: object = {}) =>
		(await client.sdk.getPrompt({name, arguments: args})).messages.map(message => message.content);
	const [simple] = await get('test_simple_prompt');
	t.like(simple, {type: 'text', text: 'This is a simple prompt for testing.'});
	const [filled] = await get('test_prompt_with_arguments', {arg1: 'é', arg2: 'two'});
	t.is(filled?.text, "Prompt with arguments: arg1='é', arg2='two'");
	const [resource] = await get('test_prompt_with_embedded_resource', {resourceUri: 'test://x'});
	t.like(resource?.resource, {uri: 'test://x', text: 'Embedded resource content for testing.'});
	const [image] = await get('test_prompt_with_image');
	t.like(image, {type: 'image', mimeType: 'image/png'});
	if (server >= '2025-03-26') {
		sameAudio(t, (await get('bridge_prompt_with_audio'))[0], client.version);
	}

	if (server >= '2025-06-18') {
		sameLink(t, (await get('bridge_prompt_with_link'))[0], client.version);
	}

	t.is(await errorCode(get('no_such_prompt')), -32602);
}

export async function checkCompletion({t, client, server}: Pair): Promise<void> {
	const complete = async (args: object) => {
		const ref = {type: 'ref/prompt', name: 'test_prompt_with_arguments'};
		const argument = {name: 'arg1', value: 'par'};
		return (await client.sdk.complete({ref, argument, ...args})).completion.values;
	};
	t.deepEqual(await complete({}), ['paris', 'park', 'party']);
	if (client.version >= '2025-06-18') {
		const values = await complete({context: {arguments: {arg2: 'x'}}});
		// A server before 2025-06-18 ignores the context.
		t.true(server < '2025-06-18' || isDeepStrictEqual(values, ['paris', 'park', 'party', 'ctx:arg2']));
	}
}
