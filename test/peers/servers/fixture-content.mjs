// The features of both fixture servers, in either era: content of each type, resources, prompts,
// completions. `since` is the first version of a feature: servers of older versions do not have it.

export const png =
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
export const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

export const text = value => ({type: 'text', text: value});
export const say = value => ({content: [text(value)]});

const image = {type: 'image', data: png, mimeType: 'image/png'};
const audio = {type: 'audio', data: wav, mimeType: 'audio/wav'};
const embedded = (uri, mimeType, value) => ({type: 'resource', resource: {uri, mimeType, text: value}});
const link = {
	type: 'resource_link',
	uri: 'file:///p/main.rs',
	name: 'main.rs',
	title: 'Main',
	description: 'entry point',
	mimeType: 'text/x-rust',
	annotations: {audience: ['assistant'], priority: 0.9, lastModified: '2025-01-12T15:00:58Z'},
};

/** Keywords of JSON Schema 2020-12 that a proxy must forward unchanged. */
const schema2020 = {
	$schema: 'https://json-schema.org/draft/2020-12/schema',
	type: 'object',
	$defs: {
		address: {
			$anchor: 'addressDef',
			type: 'object',
			properties: {street: {type: 'string'}, city: {type: 'string'}},
		},
	},
	properties: {
		name: {type: 'string'},
		address: {$ref: '#/$defs/address'},
		contactMethod: {type: 'string', enum: ['phone', 'email']},
		phone: {type: 'string'},
		email: {type: 'string'},
	},
	allOf: [{anyOf: [{required: ['phone']}, {required: ['email']}]}],
	if: {properties: {contactMethod: {const: 'phone'}}, required: ['contactMethod']},
	then: {required: ['phone']},
	else: {required: ['email']},
	additionalProperties: false,
};

export const contentTools = {
	test_simple_text: {run: () => say('This is a simple text response for testing.')},
	test_image_content: {run: () => ({content: [image]})},
	test_audio_content: {since: '2025-03-26', run: () => ({content: [text('Listen:'), audio]})},
	test_embedded_resource: {
		run: () => ({
			content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
		}),
	},
	test_multiple_content_types: {
		run: () => ({
			content: [
				text('Multiple content types test:'),
				image,
				embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
			],
		}),
	},
	test_error_handling: {
		run: () => ({isError: true, ...say('This tool intentionally returns an error for testing')}),
	},
	json_schema_2020_12_tool: {
		since: '2025-11-25',
		inputSchema: schema2020,
		run: args => say(JSON.stringify(args)),
	},
	bridge_structured: {
		since: '2025-06-18',
		title: 'Structured',
		annotations: {readOnlyHint: true, title: 'Structured (annotation)'},
		outputSchema: {type: 'object', properties: {temperature: {type: 'number'}}, required: ['temperature']},
		_meta: {'com.example/rank': 1},
		run: () => ({content: [], structuredContent: {temperature: 22.5}}),
	},
	bridge_resource_link: {since: '2025-06-18', run: () => ({content: [link]})},
};

/** The tools of that version's server, in the format of tools/list. */
export function listed(tools, version) {
	return Object.entries(tools)
		.filter(([, tool]) => (tool.since ?? '') <= version)
		.map(([name, {run: _run, since: _since, ...tool}]) => ({
			name,
			description: `Fixture tool ${name}`,
			inputSchema: {type: 'object', properties: {}},
			...tool,
		}));
}

export const resources = [
	{uri: 'test://static-text', name: 'static-text', description: 'Static text', mimeType: 'text/plain'},
	{uri: 'test://static-binary', name: 'static-binary', description: 'Static PNG', mimeType: 'image/png'},
];
export const resourceTemplates = [
	{uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json'},
];

/** The contents of a resource, or undefined if it does not exist. */
export function contentsOf(uri) {
	const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
	if (id !== undefined) {
		return [{uri, mimeType: 'application/json', text: JSON.stringify({id, templateTest: true})}];
	}

	return {
		'test://static-text': [{uri, mimeType: 'text/plain', text: 'This is the content of the static text.'}],
		'test://static-binary': [{uri, mimeType: 'image/png', blob: png}],
	}[uri];
}

const user = content => ({role: 'user', content});

const prompts = {
	test_simple_prompt: {messages: () => [user(text('This is a simple prompt for testing.'))]},
	test_prompt_with_arguments: {
		arguments: [
			{name: 'arg1', description: 'First', required: true},
			{name: 'arg2', description: 'Second', required: true},
		],
		messages: ({arg1, arg2}) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
	},
	test_prompt_with_embedded_resource: {
		arguments: [{name: 'resourceUri', required: true}],
		messages: ({resourceUri}) => [
			user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
			user(text('Please process the embedded resource above.')),
		],
	},
	test_prompt_with_image: {messages: () => [user(image), user(text('Please analyze the image above.'))]},
	bridge_prompt_with_audio: {since: '2025-03-26', messages: () => [user(audio)]},
	bridge_prompt_with_link: {since: '2025-06-18', messages: () => [user(link)]},
};

export function listedPrompts(version) {
	return Object.entries(prompts)
		.filter(([, prompt]) => (prompt.since ?? '') <= version)
		.map(([name, {messages: _messages, since: _since, ...prompt}]) => ({
			name,
			description: `Fixture prompt ${name}`,
			...prompt,
		}));
}

/** The messages of a prompt, or undefined if it does not exist. */
export function promptMessages(name, args) {
	return prompts[name]?.messages(args ?? {});
}

/** Cities that start with the typed text. With a context, also the names of its arguments. */
export function completion({argument, context}) {
	const cities = ['paris', 'park', 'party'].filter(city => city.startsWith(argument.value));
	const known = context?.arguments ? [`ctx:${Object.keys(context.arguments).join('+')}`] : [];
	const values = [...cities, ...known];
	return {completion: {values, total: values.length, hasMore: false}};
}

/** Counts the cancelled calls of `bridge_slow`, with the pending waits for one. */
export class Cancellations {
	#count = 0;
	#waiters = [];

	/** Resolves after the delay. Rejects when the signal aborts first. */
	sleep(ms, signal) {
		return new Promise((resolve, reject) => {
			const timer = setTimeout(resolve, ms);
			signal.addEventListener('abort', () => {
				clearTimeout(timer);
				this.#count += 1;
				for (const wake of this.#waiters.splice(0)) wake();
				reject(new Error('aborted'));
			});
		});
	}

	/** Resolves with the number of cancelled calls when it is not zero. */
	async first() {
		if (this.#count === 0) await new Promise(resolve => this.#waiters.push(resolve));
		return this.#count;
	}
}
