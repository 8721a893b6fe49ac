import test from 'ava';
import fc from 'fast-check';
import {
	MAX_TOOLS,
	type ToolList,
	ToolListError,
	ToolPages,
	toolListResult,
} from '../../lib/protocol/tool-list.js';

const LIMIT = 2 ** 20;
const page = (result: unknown): string => JSON.stringify({jsonrpc: '2.0', id: 1, result});

/** One list of tools that come in pages of this size. */
function listOf(tools: readonly unknown[], pageSize = 1000): ToolList {
	const pages = new ToolPages(LIMIT);
	for (let at = 0; at === 0 || at < tools.length; at += pageSize) {
		const next = at + pageSize < tools.length ? {nextCursor: `${at + pageSize}`} : {};
		pages.add(page({tools: tools.slice(at, at + pageSize), ...next}));
	}
	return pages.toList();
}

const anyTool = fc.record({name: fc.string(), description: fc.string(), inputSchema: fc.jsonValue()});
const anyTools = fc.array(anyTool, {maxLength: 20});

/** The same value with the members of all objects in it the other way round. */
function reversed(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(reversed);
	if (typeof value !== 'object' || value === null) return value;
	const members = Object.entries(value).reverse();
	return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]));
}

test('a list is the same in however many pages it came', t => {
	fc.assert(
		fc.property(anyTools, fc.integer({min: 1, max: 5}), (tools, size) => {
			const list = listOf(tools, size);
			t.deepEqual(list, listOf(tools));
			t.deepEqual(JSON.parse(toolListResult(list, undefined)), JSON.parse(JSON.stringify({tools})));
		}),
	);
});

test('two lists have one fingerprint when the same tools are in them, in whatever order', t => {
	fc.assert(
		fc.property(anyTools, tools => {
			const other = [...tools].reverse().map(reversed);
			t.is(listOf(tools).fingerprint, listOf(other).fingerprint);
		}),
	);
});

test('two lists with other tools have other fingerprints', t => {
	fc.assert(
		fc.property(anyTools, anyTool, fc.nat(20), (tools, tool, at) => {
			const more = [...tools.slice(0, at), tool, ...tools.slice(at)];
			t.not(listOf(more).fingerprint, listOf(tools).fingerprint);
			t.not(
				listOf([...tools, {...tool, description: `${tool.description}!`}]).fingerprint,
				listOf([...tools, tool]).fingerprint,
			);
		}),
	);
});

test('numbers that a parser would change are told apart', t => {
	const hash = (number: string): string => {
		const pages = new ToolPages(LIMIT);
		pages.add(`{"result":{"tools":[{"name":"a","n":${number}}]}}`);
		return pages.toList().fingerprint;
	};
	t.not(hash('9007199254740993'), hash('9007199254740992'));
	t.is(hash('9007199254740993'), hash('9007199254740993'));
});

test('a tool that is no object, or whose name is no text, is kept as it is', t => {
	const tools = [7, null, {name: {toString: 1}}, {name: 'a'}, {name: 'a'}];
	t.deepEqual(JSON.parse(toolListResult(listOf(tools), undefined)), {tools});
});

test('the shortest ttlMs of all pages counts, and an odd one does not', t => {
	const pages = new ToolPages(LIMIT);
	pages.add(page({tools: [], ttlMs: 500, nextCursor: 'a'}));
	pages.add(page({tools: [], ttlMs: 100, nextCursor: 'b'}));
	pages.add(page({tools: [], ttlMs: 'long', nextCursor: 'c'}));
	pages.add(page({tools: [], ttlMs: -1}));
	t.is(pages.toList().ttlMs, 100);
});

test('the time that is left is told as a whole number that is not negative', t => {
	const list = listOf([]);
	t.deepEqual(JSON.parse(toolListResult(list, 12.7)), {ttlMs: 12, tools: []});
	t.deepEqual(JSON.parse(toolListResult(list, -3)), {ttlMs: 0, tools: []});
});

test('a list that grows over the limit from page to page is given up', t => {
	const pages = new ToolPages(300);
	pages.add(page({tools: ['x'.repeat(200)], nextCursor: 'a'}));
	const error = t.throws(() => pages.add(page({tools: ['x'.repeat(200)]})), {instanceOf: ToolListError});
	t.true(error.isTooLarge);
});

test('a page over the limit is given up before it is parsed [SEC-D11]', t => {
	const error = t.throws(() => new ToolPages(300).add('not JSON '.repeat(100)), {
		instanceOf: ToolListError,
		message: 'has a list of more than 300 bytes',
	});
	t.true(error.isTooLarge);
});

test('a list of more tools than the limit is given up, in one page or in two [SEC-D11]', t => {
	const many = (count: number): unknown[] => Array.from({length: count}, () => 0);
	t.is(listOf(many(MAX_TOOLS), MAX_TOOLS).count, MAX_TOOLS);
	for (const pageSize of [MAX_TOOLS + 1, 6000]) {
		const error = t.throws(() => listOf(many(MAX_TOOLS + 1), pageSize), {
			instanceOf: ToolListError,
			message: 'has a list of more than 10000 tools',
		});
		t.true(error.isTooLarge);
	}
});

test('a list of more values than the limit is given up before it is parsed [SEC-D11]', t => {
	const error = t.throws(() => new ToolPages(2 ** 24).add(`not JSON ${'[],'.repeat(600_000)}`), {
		instanceOf: ToolListError,
		message: 'has a list of more than 500000 values',
	});
	t.true(error.isTooLarge);
});

test('an error is told in the words of the server', t => {
	const answer = '{"id":1,"error":{"code":-32603,"message":"no database"}}';
	t.throws(() => new ToolPages(LIMIT).add(answer), {
		instanceOf: ToolListError,
		message: 'refused: no database',
	});
});
