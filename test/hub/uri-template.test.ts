import test from 'ava';
import fc from 'fast-check';
import {compileUriTemplate} from '../../lib/hub/uri-template.js';
import {shop} from '../e2e/hub/support.js';
import {messageIn, startGateway} from '../helpers/gateway.js';

for (const [template, uri, expected] of [
	['shop://wix/item/{id}', 'shop://wix/item/7', true],
	['shop://wix/item/{id}', 'shop://wix/item/', true],
	['shop://wix/item/{id}', 'shop://wix/item/7/8', false],
	['file:///{+path}', 'file:///a/b.md', true],
	['file:///{+path}/{name}.md', 'file:///a/b.md/c/d.md', true],
	['file:///{+path}/{name}.md', 'file:///a/b.md/c', false],
	['{+a}/x{b}y/{+c}', 'q/x-/-y/x-y/z', true],
	['{+a}/x{b}y/{+c}', 'q/x-/-y/z', false],
	['db://{table}{?limit}', 'db://users?limit=1', true],
	['a.c', 'abc', false],
	['plain', 'plain', true],
	['', 'plain', false],
] as const)
	test(`${template} ${expected ? 'matches' : 'does not match'} ${uri}`, t => {
		t.is(compileUriTemplate(template)(uri), expected);
	});

/** The equivalent regular expression of a short template, which is safe to run on a short text. */
const reference = (template: string): RegExp =>
	new RegExp(`^${template.replaceAll('{+b}', '.*').replaceAll('{a}', '[^/]*')}$`, 's');

test('matches what the equivalent regular expression matches [SEC-D1]', t => {
	const text = (...parts: readonly string[]): fc.Arbitrary<string> =>
		fc.array(fc.constantFrom(...parts), {maxLength: 8}).map(all => all.join(''));
	fc.assert(
		fc.property(text('{a}', '{+b}', 'x', 'y', '/', 'x/'), text('x', 'y', '/'), (template, uri) => {
			const expected = template !== '' && reference(template).test(uri);
			return compileUriTemplate(template)(uri) === expected;
		}),
		{numRuns: 2000},
	);
	t.pass();
});

test('does not match templates and URIs over the limits [SEC-D1]', t => {
	t.true(compileUriTemplate(`${'x'.repeat(990)}{a}`)(`${'x'.repeat(990)}y`));
	t.false(compileUriTemplate(`${'x'.repeat(1000)}{a}`)(`${'x'.repeat(1000)}y`));
	t.false(compileUriTemplate('{+a}')('x'.repeat(2001)));
	t.true(compileUriTemplate('{a}x'.repeat(8))('x'.repeat(20)));
	t.false(compileUriTemplate('{a}x'.repeat(9))('x'.repeat(20)));
});

const HOSTILE = `${[...'abcdefghij'].map(name => `{+${name}}`).join('')}!`;

for (const expose of ['tools', 'both'])
	test(`a hostile resource template blocks neither other clients nor shutdown, expose: ${expose} [SEC-D1]`, async t => {
		const servers = {hostile: shop('hostile', `--template=${HOSTILE}`), honest: shop('honest')};
		const gateway = await startGateway(t, {expose, servers});
		const [one, other] = [await gateway.open(''), await gateway.open('')];
		const uri = `file:///home/me/project/notes/2026/november/${'long/'.repeat(50)}name.md`;
		const read = one.post({id: 1, method: 'resources/read', params: {uri}});
		t.like(await other.request(2, 'resources/read', {uri: 'shop://honest/item/7'}), {
			result: {contents: [{text: 'shop://honest/item/7 of honest'}]},
		});
		t.like(messageIn(await read), {error: {code: -32002}});
		t.like(await one.request(3, 'resources/read', {uri: `${uri}!`}), {
			result: {contents: [{text: `${uri}! of hostile`}]},
		});
		t.is(await gateway.stop(), 0);
	});
