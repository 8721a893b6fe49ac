import fc from 'fast-check';
import type {McpVersion} from '../mcp-version.js';

export type Members = {[name: string]: unknown};
export type Values = fc.Arbitrary<Members>;
export type ValuesByName = {readonly [name: string]: fc.Arbitrary<unknown>};

/** Whether a version has the features of another one. */
export const since = (version: McpVersion, first: McpVersion): boolean => version >= first;

/** Returns the members if the condition is true, otherwise none. */
export const when = (condition: boolean, members: ValuesByName): ValuesByName => (condition ? members : {});

/** An object with all required members and any of the optional ones. */
export const objectOf = (required: ValuesByName, optional: ValuesByName = {}): Values =>
	fc.record(
		{...required, ...optional},
		{requiredKeys: Object.keys(required), noNullPrototype: true},
	) as Values;

export const listOf = <T>(items: fc.Arbitrary<T>, maxLength = 3): fc.Arbitrary<T[]> =>
	fc.array(items, {maxLength});

/** Text that resembles the bytes of a message, and text that is hard to copy. */
const trickyTexts = [
	'{"type":"video"}',
	'"resource_link"',
	'{"type":"resource_link","uri":"file:///a","name":"a"}',
	'"type":"audio","data":""',
	'\\"structuredContent\\":{}',
	'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}',
	'"method":"tools/call"',
	'input_required',
	'[{"jsonrpc":"2.0"}]',
	'null',
	'',
	' ',
	'two\nlines\r\n',
	'\u2028\u2029\u0000\u007f',
	'Grüße, 世界, 👩‍👩‍👧',
	'\\',
	'"',
];

export const text = fc.oneof(
	fc.string({unit: 'grapheme', maxLength: 12}),
	fc.constantFrom(...trickyTexts),
	fc.lorem({maxCount: 4}),
);

export const name = fc.oneof(
	fc.constantFrom(
		'echo',
		'get_weather',
		'files/read',
		'admin.tools.list',
		'audio',
		'resource_link',
		'größe',
		'type',
	),
	fc.string({unit: 'grapheme-ascii', minLength: 1, maxLength: 10}).filter(key => key !== '__proto__'),
);

/** The ids exclude null, which no version allows. */
export const id = fc.oneof(
	fc.nat({max: 100}),
	fc.maxSafeInteger(),
	fc.constantFrom<string | number>(0, -1, '0', '1', '', 'null', '{"id":1}', 'größe'),
	fc.uuid(),
);

export const progressToken = id;
export const fraction = fc.nat({max: 8}).map(eighths => eighths / 8);
export const number = fc.integer({min: -1_000_000, max: 1_000_000}).map(eighths => eighths / 8);
export const size = fc.nat({max: 2 ** 40});
export const base64 = fc.uint8Array({maxLength: 12}).map(bytes => Buffer.from(bytes).toString('base64'));
export const cursor = fc.oneof(base64, text);

const absoluteUri = fc.constantFrom(
	'file:///p/main.rs',
	'file:///home/a%20b/%C3%BC.txt',
	'https://example.com/a?b=c&d=%22resource_link%22#e',
	'urn:isbn:0451450523',
	'test://static/resource/1',
	'bridge://content/x',
);

export const uri = fc.oneof(
	absoluteUri,
	fc
		.webUrl({withQueryParameters: true, withFragments: true})
		.filter(each => /^[\w:/?#@!$&()*+,;=.~%-]*$/.test(each)),
);

/** A root URI: every version allows only `file:` URIs. */
export const fileUri = absoluteUri.map(each => `file:///${encodeURIComponent(each)}`);

export const uriTemplate = fc.oneof(
	absoluteUri,
	fc.constantFrom('file:///{path}', 'test://{+path}{?q,limit}', 'db://{schema}/{table*}'),
);

export const webUri = fc.constantFrom(
	'https://example.com/connect?state=%7B%7D',
	'http://localhost:8080/a#%22type%22:%22audio%22',
);

export const mimeType = fc.constantFrom(
	'text/plain',
	'text/x-rust',
	'image/png',
	'audio/wav',
	'application/json',
	'a/b; c="d"',
);

const instant = fc.date({min: new Date(0), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true});

/** A date with time, in all notations that every receiver accepts. */
export const dateTime = fc
	.tuple(instant, fc.constantFrom('.000Z', 'Z', '.123456Z', '+02:00', '.5-11:30'))
	.map(([when, end]) => `${when.toISOString().slice(0, 19)}${end}`);

export const mapOf = (values: fc.Arbitrary<unknown>, minKeys = 0): Values =>
	fc.dictionary(name, values, {minKeys, maxKeys: 3, noNullPrototype: true});

const nested = (leaf: fc.Arbitrary<unknown>): {value: fc.Arbitrary<unknown>; object: Values} => {
	const {value, object} = fc.letrec<{value: unknown; object: Members}>(tie => ({
		value: fc.oneof({maxDepth: 2}, leaf, listOf(tie('value')), tie('object')),
		object: mapOf(tie('value')),
	}));
	return {value, object};
};

export const json = nested(fc.oneof(text, number, fc.integer(), fc.boolean(), fc.constant(null)));

/** JSON as the generator of the 2026-07-28 schema defines it: without null and fractions. */
export const plainJson = nested(fc.oneof(text, fc.integer(), fc.boolean()));

/** An object without defined members, as the version allows it. */
export const openObject = (version: McpVersion): Values =>
	since(version, '2026-07-28') ? plainJson.object : json.object;

const foreignMeta: ValuesByName = {
	'com.example/trace': json.value,
	'example.org/resource_link': text,
	traceparent: fc.constant('00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01'),
	'io.bridge.test/nested': json.object,
	plain: fc.boolean(),
};

export const taskId = fc.oneof(fc.uuid(), text);

const relatedTask = (version: McpVersion): ValuesByName =>
	when(version === '2025-11-25', {'io.modelcontextprotocol/related-task': objectOf({taskId})});

/** A `_meta` with foreign keys, and with those that the caller requires. */
export const meta = (version: McpVersion, required: ValuesByName = {}, optional: ValuesByName = {}): Values =>
	objectOf(required, {...foreignMeta, ...relatedTask(version), ...optional});

/** The `_meta` of an object within a message. */
export const itemMeta = (version: McpVersion): ValuesByName =>
	when(since(version, '2025-06-18'), {_meta: objectOf({}, foreignMeta)});

export const title = (version: McpVersion): ValuesByName => when(since(version, '2025-06-18'), {title: text});

const icon = objectOf(
	{src: fc.constantFrom('https://example.com/icon.png', 'data:image/png;base64,AA==')},
	{
		mimeType,
		sizes: listOf(fc.constantFrom('48x48', 'any')),
		theme: fc.constantFrom('light', 'dark'),
	},
);

export const icons = (version: McpVersion): ValuesByName =>
	when(since(version, '2025-11-25'), {icons: listOf(icon, 2)});
