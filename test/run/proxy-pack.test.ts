import test from 'ava';
import {pack, runnerOf, textOf} from './support.js';

const get = {
	name: 'get_product',
	description: 'Gets one product. It has to be published.\nSee the manual.',
	inputSchema: {
		type: 'object',
		properties: {
			include_variants: {type: 'boolean', default: false, description: 'Variants as well.'},
			product_id: {type: 'string', description: 'Its id.'},
			sort: {enum: ['price', 'name']},
			tags: {type: 'array', items: {type: 'string'}},
			where: {anyOf: [{type: 'object', properties: {city: {type: 'string'}}}, {type: 'null'}]},
			size: {type: ['integer', 'null']},
			any: {},
		},
		required: ['product_id'],
	},
	outputSchema: {type: 'object', properties: {id: {type: 'string'}, price: {type: 'number'}}},
};

const packs = [
	pack(
		'wix',
		{},
		{tools: [get, {name: 'listSites', description: 'Lists all web sites.'}], description: 'web shops'},
	),
	pack(
		'notion',
		{},
		{tools: [{name: 'search', description: 'Searches pages by text, also in a product wiki.'}]},
	),
	pack('away', {}, {unavailableReason: 'exited with code 1'}),
];

const servers = () => [
	{name: 'wix', type: 'stdio', enabled: true, connected: true},
	{name: 'off', type: 'http', enabled: false, connected: false},
];

const runner = runnerOf(packs, {servers});
test.after.always(() => runner.close());

const result = async (program: string): Promise<unknown> =>
	(await runner.run(program)).structuredContent.result;
const text = async (program: string): Promise<string> => textOf(await runner.run(program));

const signature =
	'wix.get_product(product_id: str, include_variants: bool = False, sort: "price" | "name" = ..., tags: list[str] = ..., where: {city: str} | None = ..., size: int | None = ..., any: any = ...) -> {id: str, price: float}';

test('list_servers returns name, pack, type, enabled and connected [A-G7] [HUB-16]', async t => {
	const [wix, off] = servers();
	t.deepEqual(await result('proxy.list_servers()'), [{...wix, pack: 'wix'}, off]);
});

test('list_servers returns the proxied packs if no list of servers is configured', async t => {
	const other = runnerOf(packs);
	const {structuredContent} = await other.run('[s for s in proxy.list_servers() if not s.connected]');
	t.deepEqual(structuredContent.result, [{name: 'away', pack: 'away', enabled: true, connected: false}]);
	await other.close();
});

test('list_tools returns signatures and the first sentences of descriptions [HUB-17]', async t => {
	t.deepEqual(await result('proxy.list_tools(server="wix")'), [
		{name: 'get_product', signature, description: 'Gets one product.'},
		{name: 'listSites', signature: 'wix.listSites()', description: 'Lists all web sites.'},
	]);
});

test('list_tools without a server returns all tools with the names of their packs', async t => {
	const names = (await result('[tool.name for tool in proxy.list_tools()]')) as string[];
	t.deepEqual([...names].sort(), ['notion.search', 'wix.get_product', 'wix.listSites']);
});

test('list_tools of an unknown server fails and names the connected servers [A-D11] [HUB-18]', async t => {
	t.is(
		await text('proxy.list_tools(server="nonexistent")'),
		"Error at line 1: ValueError: Server 'nonexistent' not connected. Available: notion, wix",
	);
	t.regex(await text('proxy.list_tools("notoin")'), /Did you mean notion\?$/);
});

test('list_tools of an unavailable server fails with the reason', async t => {
	t.is(
		await text('proxy.list_tools("away")'),
		"Error at line 1: ToolError: Server 'away' not connected: exited with code 1",
	);
});

test('list_tools of a disabled server fails and names the setting [A-D11]', async t => {
	t.is(
		await text('proxy.list_tools("off")'),
		"Error at line 1: ToolError: Server 'off' not connected: it is disabled (enabled: false)",
	);
});

test('search matches names and descriptions, and ranks names first', async t => {
	t.deepEqual(await result('[tool.name for tool in proxy.search("product")]'), [
		'wix.get_product',
		'notion.search',
	]);
	t.deepEqual(await result('[tool.name for tool in proxy.search("web sites", limit=1)]'), ['wix.listSites']);
	t.deepEqual(await result('proxy.search("zebra")'), []);
});

test('help on a tool returns its signature, description and parameters', async t => {
	const help = await text('proxy.help("wix.get_product")');
	t.true(help.startsWith(`${signature}\nGets one product. It has to be published.\nSee the manual.\n`));
	t.true(
		help.includes('\n  product_id: str – Its id.\n  include_variants: bool, optional – Variants as well.\n'),
	);
	t.is(await text('proxy.help("wix.list_sites")'), 'wix.listSites()\nLists all web sites.');
});

test('help on a pack lists its tools, and help without a name lists the packs', async t => {
	t.is(
		await text('proxy.help("wix")'),
		`${signature}  # Gets one product.\nwix.listSites()  # Lists all web sites.`,
	);
	t.is(
		await text('proxy.help()'),
		'Packs:\naway: 0 tools\nnotion: 1 tools\nproxy: servers and tools: list_servers, list_tools, search, help\nwix: web shops\nproxy.help("pack") lists the tools of a pack.',
	);
});

test('help on an unknown pack or tool fails', async t => {
	t.regex(await text('proxy.help("wix.nothing")'), /Tool 'nothing' not found in pack 'wix'/);
	t.regex(await text('proxy.help("nothing")'), /Server 'nothing' not connected\. Available: /);
});
