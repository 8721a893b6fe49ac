import test from 'ava';
import {inlineServer} from './inline-server.js';
import {startHub, textIn} from './support.js';

const SNOWFLAKE = '9223372036854775807';

/** An MCP server whose results contain a long integer. Its tool `request` returns the raw request. */
const exact = inlineServer(`
const names = ['text', 'structured', 'request'];
methods['tools/list'] = () => ({tools: names.map(name => ({name, inputSchema: schema}))});
let line = '';
process.stdin.prependListener('data', data => { line = String(data); });
const integer = '{"id":${SNOWFLAKE},"price":80.5}';
methods['tools/call'] = ({name}, id) => {
	const content = name === 'text' ? integer : name === 'request' ? line : 'see the structured content';
	const structured = name === 'structured' ? ',"structuredContent":' + integer : '';
	const result = '{"content":[{"type":"text","text":' + JSON.stringify(content) + '}]' + structured + '}';
	process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":' + result + '}\\n');
};
`);

for (const tool of ['text', 'structured'])
	for (const [how, program, expected] of [
		['as a complete result', `big.${tool}()`, `{"id":${SNOWFLAKE},"price":80.5}`],
		['by its name', `r = big.${tool}()\nr.id`, SNOWFLAKE],
		['in Python', `r = big.${tool}()\nstr(r.id) + "/" + str(r.id - 1)`, `${SNOWFLAKE}/9223372036854775806`],
		['in a list that Python made', `[big.${tool}().id for _ in range(2)]`, `[${SNOWFLAKE},${SNOWFLAKE}]`],
		['of a batch', `big.${tool}.batch([{}])[0].id + 0`, SNOWFLAKE],
	] as const)
		test(`keeps all digits of an integer beyond 2^53 in a ${tool} result, ${how} [A-D1]`, async t => {
			const hub = await startHub(t, {servers: {big: exact}});
			const response = await hub.call('run', {command: program});
			t.is(textIn(response), expected);
			// textIn() parses and rounds numbers, so the raw line is checked.
			const line = hub.running.lines.find(text => text.includes('structuredContent')) ?? '';
			t.true(line.includes(expected.startsWith('{') ? `"result":${expected}` : SNOWFLAKE), line);
		});

for (const [how, program] of [
	['without an interpreter', 'big.request(id=big.text().id)'],
	['with one', 'big.request(id=big.text().id - 0)'],
] as const)
	test(`passes an integer beyond 2^53 to a tool with all its digits, ${how} [A-D1]`, async t => {
		const hub = await startHub(t, {servers: {big: exact}});
		const text = textIn(await hub.call('run', {command: program}));
		t.true(text.includes(`"id":${SNOWFLAKE}`), text);
	});

for (const [how, program] of [
	['without an interpreter', 'big.text(n=[big.wide().id])'],
	['with one', 'big.text(n=[big.wide().id + 0])'],
] as const)
	test(`rejects an integer of more than 64 bits in an argument, ${how} [A-D1]`, async t => {
		const wide = '{"id":18446744073709551616}';
		const server = inlineServer(`
			methods['tools/list'] = () => ({tools: ['wide', 'text'].map(name => ({name, inputSchema: schema}))});
			methods['tools/call'] = () => ({content: [{type: 'text', text: '${wide}'}]});
		`);
		const hub = await startHub(t, {servers: {big: server}});
		t.is(
			textIn(await hub.call('run', {command: program})),
			'Error at line 1: ValueError: 18446744073709551616 has more than 64 bits. Pass it as text.',
		);
	});
