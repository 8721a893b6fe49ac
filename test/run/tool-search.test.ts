import test from 'ava';
import {ToolNames} from '../../lib/run/tool-names.js';
import {createToolScorer} from '../../lib/run/tool-search.js';

const tool = {
	name: 'getProduct',
	description: 'Reads an article of the catalogue',
	inputSchema: {properties: {currency: {}}},
};

for (const [query, score] of [
	['product', 10],
	['prod', 5],
	['products', 5],
	['article', 3],
	['cat', 1],
	['currency', 3],
	['wix', 10],
	['zebra', 0],
	['product article', 13],
	['product product', 10],
] as const)
	test(`scores "${query}" with ${score}`, t => {
		t.is(createToolScorer(query)('wix', tool), score);
	});

test('searches for at most 50 words, and only in the beginning of a description [SEC-D12]', t => {
	const words = Array.from({length: 49}, (_, at) => `x${at}`).join(' ');
	t.is(createToolScorer(`${words} product`)('wix', tool), 10);
	t.is(createToolScorer(`${words} y product`)('wix', tool), 0);
	t.is(createToolScorer('product '.repeat(2 ** 20))('wix', tool), 10);
	const long = {name: 'x', description: `${'word '.repeat(400)}late`};
	t.is(createToolScorer('late')('wix', long), 0);
});

test('resolves the names of 200,000 tools in linear time [SEC-D12]', t => {
	const tools = Array.from({length: 200_000}, (_, at) => ({name: `tool-${at}`}));
	const names = new ToolNames({tools});
	const {length} = tools.filter(tool => names.pythonName(tool) !== undefined);
	t.is(length, tools.length);
});
