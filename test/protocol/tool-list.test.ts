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

/** The value with the members of all its objects in reverse order. */
function reversed(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(reversed);
	if (typeof value !== 'object' || value === null) return value;
	const members = Object.entries(value).reverse();
	return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]));
}

test('builds the same list from any number of pages', t => {
	fc.assert(
		fc.property(anyTools, fc.integer({min: 1, max: 5}), (tools, size) => {
			const list = listOf(tools, size);
			t.deepEqual(list, listOf(tools));
			t.deepEqual(JSON.parse(toolListResult(list, undefined)), JSON.parse(JSON.stringify({tools})));
		}),
	);
});

test('computes equal fingerprints for the same tools in any order', t => {
	fc.assert(
		fc.property(anyTools, tools => {
			const other = [...tools].reverse().map(reversed);
			t.is(listOf(tools).fingerprint, listOf(other).fingerprint);
		}),
	);
});

test('computes different fingerprints for different tools', t => {
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

test('distinguishes numbers that a parser would round', t => {
	const hash = (number: string): string => {
		const pages = new ToolPages(LIMIT);
		pages.add(`{"result":{"tools":[{"name":"a","n":${number}}]}}`);
		return pages.toList().fingerprint;
	};
	t.not(hash('9007199254740993'), hash('9007199254740992'));
	t.is(hash('9007199254740993'), hash('9007199254740993'));
});

test('keeps a tool that is not an object, or whose name is not a string', t => {
	const tools = [7, null, {name: {toString: 1}}, {name: 'a'}, {name: 'a'}];
	t.deepEqual(JSON.parse(toolListResult(listOf(tools), undefined)), {tools});
});

test('uses the shortest valid ttlMs of all pages', t => {
	const pages = new ToolPages(LIMIT);
	pages.add(page({tools: [], ttlMs: 500, nextCursor: 'a'}));
	pages.add(page({tools: [], ttlMs: 100, nextCursor: 'b'}));
	pages.add(page({tools: [], ttlMs: 'long', nextCursor: 'c'}));
	pages.add(page({tools: [], ttlMs: -1}));
	t.is(pages.toList().ttlMs, 100);
});

test('returns the remaining time as a whole number that is not negative', t => {
	const list = listOf([]);
	t.deepEqual(JSON.parse(toolListResult(list, 12.7)), {ttlMs: 12, tools: []});
	t.deepEqual(JSON.parse(toolListResult(list, -3)), {ttlMs: 0, tools: []});
});

test('rejects a list that exceeds the limit on a later page', t => {
	const pages = new ToolPages(300);
	pages.add(page({tools: ['x'.repeat(200)], nextCursor: 'a'}));
	const error = t.throws(() => pages.add(page({tools: ['x'.repeat(200)]})), {instanceOf: ToolListError});
	t.true(error.isTooLarge);
});

test('rejects a page over the limit before parsing it [SEC-D11]', t => {
	const error = t.throws(() => new ToolPages(300).add('not JSON '.repeat(100)), {
		instanceOf: ToolListError,
		message: 'has a list of more than 300 bytes',
	});
	t.true(error.isTooLarge);
});

test('rejects a list with too many tools, in one page or in two [SEC-D11]', t => {
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

test('rejects a list with too many values before parsing it [SEC-D11]', t => {
	const error = t.throws(() => new ToolPages(2 ** 24).add(`not JSON ${'[],'.repeat(600_000)}`), {
		instanceOf: ToolListError,
		message: 'has a list of more than 500000 values',
	});
	t.true(error.isTooLarge);
});

test('includes the error message of the server', t => {
	const response = '{"id":1,"error":{"code":-32603,"message":"no database"}}';
	t.throws(() => new ToolPages(LIMIT).add(response), {
		instanceOf: ToolListError,
		message: 'rejected tools/list: no database',
	});
});
