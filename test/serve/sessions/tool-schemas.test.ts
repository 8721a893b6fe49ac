import {Ajv} from 'ajv';
import test from 'ava';
import {codexToolDefinitions} from '../../../lib/serve/codex/codex-tools.js';
import {ToolError} from '../../../lib/serve/sessions/tool-error.js';
import {bridgeToolSchemas, extendCodexTool} from '../../../lib/serve/sessions/tool-schemas.js';
import {objectOf} from '../../../lib/util/json.js';

const ajv = new Ajv({strict: false});

test('preserves the properties and descriptions of Codex tools [3.10]', t => {
	for (const tool of codexToolDefinitions) {
		const extended = extendCodexTool(tool);
		const [before, after] = [objectOf(tool.inputSchema), objectOf(extended.inputSchema)];
		t.like(after.properties, objectOf(before.properties));
		t.is(after.additionalProperties, before.additionalProperties);
		t.true('codex_id' in objectOf(after.properties));
		t.true(String(extended.description).startsWith(String(tool.description)));
	}
	const other = {name: 'other', inputSchema: {type: 'object'}};
	t.is(extendCodexTool(other), other);
});

test('requires a prompt for codex-reply but not for codex [FR-16.4]', t => {
	const [start, reply] = codexToolDefinitions
		.map(extendCodexTool)
		.map(({inputSchema}) => objectOf(inputSchema));
	t.is(start?.required, undefined);
	t.deepEqual(reply?.required, ['prompt']);
});

test('results and errors match the output schemas', t => {
	const errorResult = objectOf(
		new ToolError('timeout', 'Too slow.', {codex_id: 'codex:1'}).result.structuredContent,
	);
	for (const tool of [...codexToolDefinitions.map(extendCodexTool), ...bridgeToolSchemas]) {
		const isValid = ajv.compile(objectOf(tool.outputSchema));
		t.true(isValid(errorResult), `${tool.name}`);
	}
	const isValidTurn = ajv.compile(objectOf(codexToolDefinitions.map(extendCodexTool)[0]?.outputSchema));
	t.true(
		isValidTurn({
			threadId: 't',
			content: 'c',
			codex_id: 'codex:1',
			identity: 'a',
			resumed: {context: 'none'},
		}),
	);
});

test('the text of an error contains its message, code and kind', t => {
	const {result} = new ToolError('child_dead', 'codex exited with code 42.', {exit_code: 42});
	t.like(result, {
		isError: true,
		content: [{type: 'text', text: 'codex exited with code 42. (error -32005, child_dead)'}],
		structuredContent: {error: {code: -32005, kind: 'child_dead', exit_code: 42}},
	});
});
