import {isModern} from './eras.js';
import {type Pair, textOf} from './pair.js';

/*
 * Server requests during a call. A stateless server returns a result that requires input; an older one
 * sends a request.
 */

export async function checkSampling({t, client, server}: Pair): Promise<void> {
	const tool = isModern(server) ? 'test_input_required_result_sampling' : 'test_sampling';
	const result = await client.callTool(tool, {prompt: 'What is new?'});
	t.is(textOf(result), 'LLM response: Said: What is new?');
}

export async function checkRoots({t, client, server}: Pair): Promise<void> {
	const tool = isModern(server) ? 'test_input_required_result_list_roots' : 'bridge_roots';
	t.is(textOf(await client.callTool(tool)), 'Roots: file:///first');
}

/**
 * A client without elicitation gets no request, and the call fails with an error of the tool or of the
 * protocol.
 */
async function checkRejection({t, client, server}: Pair, tool: string): Promise<void> {
	const outcome = await client.callTool(tool, {message: 'Who are you?'}).then(
		result => ({failed: result.isError === true, text: textOf(result) ?? ''}),
		(error: unknown) => ({failed: true, text: String(error)}),
	);
	t.true(outcome.failed, outcome.text);
	t.false(client.serverRequests.includes('elicitation/create'));
	if (!isModern(server)) {
		t.regex(outcome.text, /-32601/);
	}
}

export async function checkElicitation(pair: Pair): Promise<void> {
	const {t, client, server} = pair;
	if (server < '2025-06-18') {
		return;
	}

	const tool = isModern(server) ? 'test_input_required_result_elicitation' : 'test_elicitation';
	if (client.version < '2025-06-18') {
		await checkRejection(pair, tool);
		return;
	}

	const text = textOf(await client.callTool(tool, {message: 'Who are you?'}));
	const response = 'User response: action=accept, content={"username":"ada","email":"ada@example.com"}';
	t.is(text, isModern(server) ? 'Hello, Ada!' : response);
	t.deepEqual(client.serverRequests, ['elicitation/create']);
}

/** Checks titled lists and multiple choice, new in 2025-11-25. An older client gets an equivalent form. */
export async function checkChoices({t, client, server}: Pair): Promise<void> {
	if (server === '2025-11-25' && client.version >= '2025-06-18') {
		const text = textOf(await client.callTool('test_elicitation_sep1330_enums')) ?? '';
		t.true(text.startsWith('User response: action=accept, content='), text);
		const content: unknown = JSON.parse(text.slice(text.indexOf('{')));
		t.deepEqual(content, {titledSingle: 'red', titledMulti: ['left']});
	}
}

/**
 * Several input requests at once, and requests that depend on earlier responses. Only stateless servers
 * send them.
 */
export async function checkRounds({t, client, server}: Pair): Promise<void> {
	if (isModern(server) && client.version >= '2025-06-18') {
		const before = client.serverRequests.length;
		const several = await client.callTool('test_input_required_result_multiple_inputs');
		t.is(textOf(several), 'all inputs received');
		t.deepEqual(client.serverRequests.slice(before).sort(), [
			'elicitation/create',
			'roots/list',
			'sampling/createMessage',
		]);
		const rounds = await client.callTool('test_input_required_result_multi_round');
		t.is(textOf(rounds), 'Ada likes blue');
	}
}
