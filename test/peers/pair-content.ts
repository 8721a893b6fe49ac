import type {ExecutionContext} from 'ava';
import type {Content} from './era-client.js';
import {isModern, type Version} from './eras.js';
import {type Pair, textOf} from './pair.js';

/* The content of tool results, by the version of the client. */

const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

/**
 * Checks audio, which exists since 2025-03-26. Older clients get the same bytes as an embedded resource.
 */
export function sameAudio(t: ExecutionContext, content: Content | undefined, client: Version): void {
	if (client >= '2025-03-26') {
		t.like(content, {type: 'audio', data: wav, mimeType: 'audio/wav'});
	} else {
		t.like(content, {type: 'resource', resource: {mimeType: 'audio/wav', blob: wav}});
		t.regex(content?.resource?.uri ?? '', /^bridge:\/\/content\//);
	}
}

/** Checks links, which exist since 2025-06-18. Older clients get an equivalent text. */
export function sameLink(t: ExecutionContext, content: Content | undefined, client: Version): void {
	if (client >= '2025-06-18') {
		t.like(content, {type: 'resource_link', uri: 'file:///p/main.rs', name: 'main.rs'});
	} else {
		t.is(content?.type, 'text');
		t.regex(content?.text ?? '', /\[Main\]\(file:\/\/\/p\/main\.rs\).*text\/x-rust.*entry point/);
	}
}

async function checkPlainContent({t, client}: Pair): Promise<void> {
	t.is(textOf(await client.callTool('test_simple_text')), 'This is a simple text response for testing.');
	const [image] = (await client.callTool('test_image_content')).content;
	t.like(image, {type: 'image', mimeType: 'image/png'});
	t.true(image?.data?.startsWith('iVBOR'));
	const [embedded] = (await client.callTool('test_embedded_resource')).content;
	t.like(embedded, {
		type: 'resource',
		resource: {uri: 'test://embedded-resource', text: 'This is an embedded resource content.'},
	});
	const {content} = await client.callTool('test_multiple_content_types');
	t.deepEqual(
		content.map(block => block.type),
		['text', 'image', 'resource'],
	);
	const failed = await client.callTool('test_error_handling');
	t.true(failed.isError);
	t.is(textOf(failed), 'This tool intentionally returns an error for testing');
	const echoed = textOf(await client.callTool('bridge_echo', {text: 'é ☃', deep: [1, {a: null}]}));
	t.deepEqual(Reflect.get(JSON.parse(echoed ?? ''), 'arguments'), {text: 'é ☃', deep: [1, {a: null}]});
}

async function checkStructured({t, client, server}: Pair): Promise<void> {
	const result = await client.callTool('bridge_structured');
	if (client.version >= '2025-06-18') {
		t.deepEqual(result.structuredContent, {temperature: 22.5});
	} else {
		// A client that reads only `content` must find it there.
		t.deepEqual(JSON.parse(textOf(result) ?? ''), {temperature: 22.5});
	}

	if (isModern(server)) {
		const array = await client.callTool('bridge_array_output');
		t.is(textOf(array), '[1,2,3]');
		if (client.version >= '2025-06-18') {
			t.deepEqual(array.structuredContent, isModern(client.version) ? [1, 2, 3] : {result: [1, 2, 3]});
		}
	}
}

export async function checkToolResults(pair: Pair): Promise<void> {
	const {t, client, server} = pair;
	// Clients cache the output schemas, and check results against them.
	await client.sdk.listTools();
	await checkPlainContent(pair);
	if (server >= '2025-03-26') {
		const {content} = await client.callTool('test_audio_content');
		t.is(content[0]?.text, 'Listen:');
		sameAudio(t, content[1], client.version);
	}

	if (server >= '2025-06-18') {
		sameLink(t, (await client.callTool('bridge_resource_link')).content[0], client.version);
		await checkStructured(pair);
	}

	if (server >= '2025-11-25') {
		const args = {name: 'Ada', phone: '1'};
		const echoed = textOf(await client.callTool('json_schema_2020_12_tool', args));
		t.deepEqual(JSON.parse(echoed ?? ''), args);
	}
}
