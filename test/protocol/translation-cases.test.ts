import {readdirSync, readFileSync} from 'node:fs';
import test from 'ava';
import {type Answered, type McpVersion, problemsOf, versions} from '../helpers/mcp-schema.js';

/** The members of a case that tell what is sent, and to whom. */
type Case = {
	readonly name: string;
	readonly to: string;
	readonly after: unknown;
	readonly afterVersion?: string;
	readonly afterDef?: string;
	readonly method?: string;
	readonly methods?: {readonly [id: string]: string};
	/** Why no schema has this message. */
	readonly schemaExempt?: string;
};

const folder = new URL('../../../fixtures/translation-cases/', import.meta.url);
const files = readdirSync(folder).filter(file => file.endsWith('.json'));

/** The messages in what is sent, without what HTTP has around them. A batch is one message. */
function messagesIn({after, afterDef}: Case): unknown[] {
	if (Array.isArray(after)) return afterDef?.startsWith('JSONRPCBatch') ? [after] : after;
	const {http, sse} = after as {http?: {body?: unknown}; sse?: ReadonlyArray<{data?: unknown}>};
	if (http) return http.body === undefined ? [] : [http.body];
	if (sse) return sse.map(({data}) => data).filter(data => typeof data === 'object' && data !== null);
	return [after];
}

/** The request that an answer in the case belongs to: one for all, or one for each id, be it number or text. */
function answersOf({
	method,
	methods,
	afterDef = '',
}: Case): Answered | ReadonlyMap<string | number, Answered> {
	if (methods)
		return new Map(
			Object.entries(methods).flatMap(
				([id, each]): Array<[string | number, Answered]> => [
					[id, {method: each}],
					[Number(id), {method: each}],
				],
			),
		);
	const hasOwn = afterDef === 'InputRequiredResult' || afterDef.endsWith('Error');
	return {method: method ?? 'none', ...(hasOwn ? {definition: afterDef} : {})};
}

const isVersion = (text: string): text is McpVersion => versions.some(version => version === text);

for (const file of files) {
	const each = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Case;
	if (each.after === null || each.schemaExempt) continue;
	test(`${each.name}: what is sent is valid for who gets it`, t => {
		const version = each.afterVersion ?? each.to;
		if (!isVersion(version)) return t.fail(`${version} has no schema`);
		for (const message of messagesIn(each)) t.deepEqual(problemsOf(version, message, answersOf(each)), []);
		return t.pass();
	});
}

test('there are cases, and few of them send nothing that a schema could tell of', t => {
	const all = files.map(file => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Case);
	t.true(all.length > 70);
	t.true(all.filter(({after, schemaExempt}) => after === null || schemaExempt).length < 10);
});
