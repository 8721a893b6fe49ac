import type {Script, Session} from './session.js';

const rootsFirst = [{uri: 'file:///first', name: 'First'}];
const rootsLater = [...rootsFirst, {uri: 'file:///later', name: 'Later é'}];

const formContent = {
	name: 'Ada Lovelace',
	check: true,
	email: 'ada@example.com',
	homepage: 'https://example.com/ada',
	birthdate: '1815-12-10',
	integer: 42,
	number: 3.14,
};

function paramsOf(request: unknown): object {
	const params: unknown =
		typeof request === 'object' && request !== null ? Reflect.get(request, 'params') : undefined;
	return typeof params === 'object' && params !== null ? params : {};
}

interface ClientState {
	roots: object[];
	/** Set while elicitations are handled by cancelling the call that caused them. */
	cancelling: AbortController | undefined;
}

/** Handles the server requests: roots, sampling, elicitation by form and by URL. */
function handleRequests({client, sdk, note}: Session, state: ClientState): void {
	client.setRequestHandler(sdk.schema('ListRootsRequestSchema'), () => ({roots: state.roots}));
	client.setRequestHandler(sdk.schema('CreateMessageRequestSchema'), request => {
		note('request to sample', paramsOf(request));
		return {model: 'none', role: 'assistant', stopReason: 'endTurn', content: {type: 'text', text: 'Said ☃'}};
	});
	client.setRequestHandler(sdk.schema('ElicitRequestSchema'), request => {
		note('request to elicit', paramsOf(request));
		if (state.cancelling) {
			state.cancelling.abort('changed my mind');
			return {action: 'cancel'};
		}

		return 'url' in paramsOf(request) ? {action: 'accept'} : {action: 'accept', content: formContent};
	});
}

async function greet({client, note, step, seen}: Session): Promise<void> {
	note('server', [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]);
	// The server requests the roots 350 ms after initialization and logs them. After that its order is
	// deterministic.
	await seen('notifications/message');
	await step('set level', client.setLoggingLevel('debug'));
	await step('tools', client.listTools());
	await step('resources', client.listResources());
	await step('templates', client.listResourceTemplates());
	await step('prompts', client.listPrompts());
}

async function callTools({client, step}: Session): Promise<void> {
	const call = (name: string, args: object) => step(name, client.callTool({name, arguments: args}));
	await call('echo', {message: 'quotes " \\ newline \n snow ☃ clef \u{1d11e} separator \u2028 nul \u0000'});
	await call('get-sum', {a: 2, b: 40.5});
	await call('get-structured-content', {location: 'Chicago'});
	await call('get-tiny-image', {});
	await call('get-annotated-message', {messageType: 'error', includeImage: true});
	await call('get-resource-links', {count: 4});
	await call('get-resource-reference', {resourceType: 'Blob', resourceId: 3});
	await call('gzip-file-as-resource', {
		name: 'a.gz',
		data: 'data:text/plain,hello',
		outputType: 'resourceLink',
	});
	// Three kinds of failure: an error of the tool, rejected arguments, an unknown tool.
	await call('get-resource-reference', {resourceType: 'Text', resourceId: -1});
	await call('get-sum', {a: 'two'});
	await call('no-such-tool', {});
	// The received messages contain the progress. The callback is not checked: the SDK drops progress that
	// it reads together with the response, so the callback's results vary.
	const onprogress = () => undefined;
	const long = {name: 'trigger-long-running-operation', arguments: {duration: 0.3, steps: 3}};
	await step('long running', client.callTool(long, undefined, {onprogress}));
	await step(
		'many at once',
		Promise.all(Array.from({length: 50}, (_, a) => client.callTool({name: 'get-sum', arguments: {a, b: 1}}))),
	);
}

async function letServerAsk({client, step, seen}: Session, state: ClientState): Promise<void> {
	state.roots = rootsLater;
	await client.sendRootsListChanged();
	await seen('notifications/message', 2);
	const call = (name: string, args: object, signal = new AbortController().signal) =>
		step(name, client.callTool({name, arguments: args}, undefined, {signal}));
	await call('get-roots-list', {});
	await call('trigger-sampling-request', {prompt: 'Say something', maxTokens: 7});
	await call('trigger-elicitation-request', {});
	const url = 'https://example.com/open';
	await call('trigger-url-elicitation', {url, elicitationId: 'mine'});
	await call('trigger-url-elicitation', {url, elicitationId: 'other', errorPath: true});
	state.cancelling = new AbortController();
	await call('trigger-elicitation-request', {}, state.cancelling.signal);
}

async function usePrompts({client, step}: Session): Promise<void> {
	const get = (name: string, args: object) => step(name, client.getPrompt({name, arguments: args}));
	await get('simple-prompt', {});
	await get('args-prompt', {city: 'Łódź', state: 'Poland'});
	await get('resource-prompt', {resourceType: 'Text', resourceId: '7'});
	await get('no-such-prompt', {});
	const ref = {type: 'ref/prompt', name: 'completable-prompt'};
	await step('complete', client.complete({ref, argument: {name: 'department', value: 'S'}}));
	const context = {arguments: {department: 'Engineering'}};
	await step('complete more', client.complete({ref, argument: {name: 'name', value: ''}, context}));
	const template = {type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}'};
	await step('complete URI', client.complete({ref: template, argument: {name: 'resourceId', value: '12'}}));
}

async function useResources({client, step}: Session): Promise<void> {
	const read = (uri: string) => step(uri, client.readResource({uri}));
	await read('demo://resource/static/document/features.md');
	await read('demo://resource/dynamic/text/1');
	await read('demo://resource/dynamic/blob/2');
	await read('demo://resource/session/a.gz');
	await read('demo://resource/nowhere');
	const uri = 'demo://resource/dynamic/text/1';
	await step('subscribe', client.subscribeResource({uri}));
	// Enabling sends an update of the resource at once; disabling removes the timer that keeps the server
	// alive.
	await step('updates on', client.callTool({name: 'toggle-subscriber-updates'}));
	await step('updates off', client.callTool({name: 'toggle-subscriber-updates'}));
	await step('unsubscribe', client.unsubscribeResource({uri}));
}

/** All features of server-everything, except those that are slow by design. */
export function everythingScript(): Script {
	const state: ClientState = {roots: rootsFirst, cancelling: undefined};
	return {
		capabilities: {roots: {listChanged: true}, sampling: {}, elicitation: {form: {}, url: {}}},
		prepare: session => handleRequests(session, state),
		async play(session) {
			await greet(session);
			await callTools(session);
			await letServerAsk(session, state);
			await usePrompts(session);
			await useResources(session);
		},
	};
}
