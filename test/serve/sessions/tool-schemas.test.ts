import {Ajv} from 'ajv';
import test from 'ava';
import {codexToolDefinitions} from '../../../lib/serve/codex/codex-tools.js';
import {ToolError} from '../../../lib/serve/sessions/tool-error.js';
import {bridgeToolSchemas, extendCodexTool} from '../../../lib/serve/sessions/tool-schemas.js';
import {objectOf} from '../../../lib/util/json.js';

const ajv = new Ajv({strict: false});

test("3.10 Codex's own tools keep all they have", t => {
	for (const tool of codexToolDefinitions) {
		const wide = extendCodexTool(tool);
		const [before, now] = [objectOf(tool.inputSchema), objectOf(wide.inputSchema)];
		t.like(now.properties, objectOf(before.properties));
		t.is(now.additionalProperties, before.additionalProperties);
		t.true('codex_id' in objectOf(now.properties));
		t.true(String(wide.description).startsWith(String(tool.description)));
	}
	const other = {name: 'other', inputSchema: {type: 'object'}};
	t.is(extendCodexTool(other), other);
});

test('a prompt is not required of codex, but of codex-reply [FR-16.4]', t => {
	const [start, reply] = codexToolDefinitions
		.map(extendCodexTool)
		.map(({inputSchema}) => objectOf(inputSchema));
	t.is(start?.required, undefined);
	t.deepEqual(reply?.required, ['prompt']);
});

test('results and refusals both fit the schema that clients check them against', t => {
	const refusal = objectOf(
		new ToolError('timeout', 'Too slow.', {codex_id: 'codex:1'}).result.structuredContent,
	);
	for (const tool of [...codexToolDefinitions.map(extendCodexTool), ...bridgeToolSchemas]) {
		const isValid = ajv.compile(objectOf(tool.outputSchema));
		t.true(isValid(refusal), `${tool.name}`);
	}
	const isTurn = ajv.compile(objectOf(codexToolDefinitions.map(extendCodexTool)[0]?.outputSchema));
	t.true(
		isTurn({threadId: 't', content: 'c', codex_id: 'codex:1', identity: 'a', resumed: {context: 'none'}}),
	);
});

test('the text of a refusal has its code, kind and words; clients show nothing else', t => {
	const {result} = new ToolError('child_dead', 'codex exited with code 42.', {exit_code: 42});
	t.like(result, {
		isError: true,
		content: [{type: 'text', text: 'codex exited with code 42. (error -32005, child_dead)'}],
		structuredContent: {error: {code: -32005, kind: 'child_dead', exit_code: 42}},
	});
});
