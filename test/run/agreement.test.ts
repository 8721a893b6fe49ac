import test from 'ava';
import fc from 'fast-check';
import {compilePlainProgram} from '../../lib/run/plain-program.js';
import {forInterpreter, pack, runnerOf} from './support.js';

const data = {
	name: 'Ünï 😀',
	id: 7,
	price: 0.00001234,
	big: 1e300,
	id64: 2n ** 63n,
	id65: 2n ** 64n,
	empty: [],
	none: null,
	flags: [true, false],
	nested: [
		{name: 'a', tags: ['x', 'y']},
		{name: 'b', tags: []},
	],
	'odd key': {'1': 'one'},
};

const schema = {type: 'object', properties: {path: {}, pattern: {}, limit: {}}, required: ['limit']};

const packs = [
	pack('wix', {data: () => data, echo: args => args, text: () => 'plain text', none: () => null}),
	pack(
		'files',
		{find: args => args},
		{tools: [{name: 'find', inputSchema: schema}, {name: 'list-all'}, {name: 'list_all'}]},
	),
	pack('broken', {
		fail: () => {
			throw new Error('it failed');
		},
	}),
	pack('away', {}, {unavailableReason: 'exited with code 1'}),
];

const runner = runnerOf(packs, {runTimeoutMs: 600_000, maxConcurrent: 2, maxQueued: 1000});
test.after.always(() => runner.close());

const names = new Set(['wix', 'files', 'broken', 'away', 'proxy']);
const isPlain = async (program: string): Promise<boolean> =>
	(await compilePlainProgram(program, names)) !== undefined;

for (const program of [
	'wix.data()',
	'x = wix.data()\nx.name',
	'x = wix.data(); x["name"]',
	'x = wix.data()\nx.nested[0].tags[-1]',
	'x = wix.data(); y = wix.text()',
	'x = y = wix.data()',
	'x = 5',
	'x = wix.text()\ny = x[0]',
	'wix.data().name[4]',
	'wix.data().price',
	'[wix.data().big, 0.00005, 1.5, -3, -0.25]',
	'wix.data().id64',
	'wix.data().id64[0]',
	'wix.data().id64.x',
	'wix.echo(a=wix.data().id64)',
	'wix.echo(a=[wix.data().id65])',
	'wix.data().nope',
	'wix.data()["nope"]',
	'wix.data()["it\'s"]',
	'wix.data().nested[5]',
	'wix.data().nested["x"]',
	'wix.text()["x"]',
	'wix.data().id[0]',
	'wix.data().id.x',
	'wix.data()[0]',
	'wix.none()',
	'wix.none().x',
	'{"a": 1}["a"]',
	'x = {"a": 1}\nx.a',
	'wix.echo(a=1, b="x", c=[True, None, {"k": -1}])',
	'wix.echo(a=wix.data().nested[1])',
	'files.find(1, "p")',
	'files.find(1, path="p")',
	'files.find(1, 2, 3, 4)',
	'files.find(1, limit=2)',
	'files.find(pa=1)',
	'files.find(lim=1)',
	'files.find(other=1)',
	'files.listall()',
	'files.LIST_ALL()',
	'wix.Echo()',
	'wix.e_cho()',
	'wix.eco()',
	'nothing.here()',
	'x.upper()',
	'wxi.data(a=broken.fail())',
	'broken.fail()',
	'x = wix.data()\n\n\nbroken.fail()',
	'(broken\n.fail())',
	'(wix.echo\n.batch(5))',
	'[\n1][0].name',
	'(wix.data().id\n.x)',
	'[\n1][9]',
	'away.anything()',
	'wix.echo.batch([{"a": 1}, {"a": 2}])',
	'files.find.batch([1, 2])',
	'wix.echo.batch(5)',
	'broken.fail.batch([{}, {}])',
	'broken.fail.batch([{}, {}], return_errors=True)',
	'"""two\nlines"""',
	'"\\"\\n\\t\\\\"',
	'# nothing\nwix.text()  # a comment',
	'proxy.list_tools(server="files")',
	'proxy.list_tools(server="fils")',
]) {
	test(`returns the same with and without the interpreter: ${JSON.stringify(program)}`, async t => {
		t.true(await isPlain(program), 'runs without the interpreter');
		t.deepEqual(await runner.run(forInterpreter(program)), await runner.run(program));
	});
}

for (const program of [
	'print("x")',
	'wix.data().items',
	'wix.data().keys()',
	'1.0',
	'1e400',
	'9007199254740993',
	'{"1": 2}',
	'{"__proto__": 2}',
	'{1: 2}',
	'b"x"',
	'"a" "b"',
	'f"{x}"',
	'"\\N{BULLET}"',
	'wix.echo(a=1, a=2)',
	'wix.echo(*x)',
	'wix.echo(**x)',
	'wix = 5',
	'wix',
	'wix.data',
	'x',
	'x = wix.data()\nx()',
	'str.upper("x")',
	'ToolError.mro()',
	'wix.data()[0:1]',
	'(1, 2)',
	'-True',
	'x := 5',
	'08',
	'a = b',
	'for x in []: pass',
	'return 5',
	'if True: wix.data()',
	'x = (',
	'wix.data() if True else 1',
	'wix.data() + 1',
	'x: int = 5',
	'x += 1',
	'wix.data().__class__',
	'wix.__class__()',
	'del x',
]) {
	test(`runs in the interpreter: ${JSON.stringify(program)}`, async t => {
		t.false(await isPlain(program));
	});
}

const leaf = fc.oneof(
	fc.integer({min: -(2 ** 40), max: 2 ** 40}).map(String),
	fc.double({noNaN: true, min: -1e6, max: 1e6}).map(value => value.toFixed(4)),
	fc.constantFrom('True', 'False', 'None', '[]', '{}', '-1', '0'),
	fc.string({maxLength: 6}).map(text => JSON.stringify(text)),
	fc.string({unit: 'binary', maxLength: 4}).map(text => `'${text}'`),
);

const {expression} = fc.letrec<{expression: string; call: string}>(tie => ({
	expression: fc.oneof(
		{depthSize: 'small', withCrossShrink: true},
		leaf,
		fc.constantFrom('x', 'y', 'x.name', 'x["nested"][0]', 'y[0]', 'x.nested[-1].tags', 'x.odd'),
		tie('call'),
		fc.array(tie('expression'), {maxLength: 3}).map(items => `[${items.join(', ')}]`),
		fc
			.array(fc.tuple(fc.string({maxLength: 3}), tie('expression')), {maxLength: 3})
			.map(entries => `{${entries.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')}}`),
		tie('expression').map(of => `${of}[0]`),
		tie('expression').map(of => `${of}.name`),
		tie('expression').map(of => `await ${of}`),
	),
	call: fc
		.tuple(
			fc.constantFrom(
				'wix.echo',
				'wix.data',
				'files.find',
				'wix.text',
				'wix.ech0',
				'wix.echo.batch',
				'other.tool',
			),
			fc.array(tie('expression'), {maxLength: 2}),
			fc.uniqueArray(fc.constantFrom('limit', 'pa', 'path', 'x'), {maxLength: 2}),
			tie('expression'),
		)
		.map(
			([name, args, keys, value]) =>
				`${name}(${[...args, ...keys.map(key => `${key}=${value}`)].join(', ')})`,
		),
}));

const statement = fc.oneof(
	expression,
	fc.tuple(fc.constantFrom('x', 'y', 'x = y'), expression).map(([name, value]) => `${name} = ${value}`),
);

const program = fc
	.tuple(fc.array(statement, {minLength: 1, maxLength: 4}), fc.constantFrom('\n', '; ', '\n\n'))
	.map(([statements, between]) => ['x = wix.data()', 'y = wix.text()', ...statements].join(between));

/** Programs that may be invalid. They must match the behavior of Python. */
const mangled = fc
	.tuple(
		program,
		fc.nat(),
		fc.constantFrom('', ' ', '"', "'", '\\', '(', ')', ',', '=', '.', '\n', '0', '_', '#', 'é'),
	)
	.map(([text, at, other]) => {
		const place = at % text.length;
		return text.slice(0, place) + other + text.slice(place + 1);
	});

const RUNS = Number(process.env.RUN_AGREEMENTS ?? 400);

test('returns the same with and without the interpreter for random programs, valid or not', async t => {
	let plain = 0;
	await fc.assert(
		fc.asyncProperty(fc.oneof(program, mangled), async text => {
			if (!(await isPlain(text))) return true;
			plain++;
			t.deepEqual(await runner.run(forInterpreter(text)), await runner.run(text));
			return true;
		}),
		{numRuns: RUNS},
	);
	t.true(plain > RUNS / 8, `${plain} programs ran without the interpreter`);
});
