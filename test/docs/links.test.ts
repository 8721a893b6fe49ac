import {existsSync, readdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import test from 'ava';
import {pages, readPage, root} from './blocks.js';

const withoutCode = (page: string): string => page.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]+`/g, 'x');

/** The anchor of a heading in GitHub's format. */
const anchorOf = (heading: string): string =>
	heading
		.toLowerCase()
		.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
		.replace(/[^\p{L}\p{N} _-]/gu, '')
		.replaceAll(' ', '-');

const anchorsOf = (page: string): Set<string> =>
	new Set(
		[...page.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
			anchorOf(heading),
		),
	);

/** Returns the problem of a link in a file, if any. */
function problemOf(file: string, link: string): string | undefined {
	if (/^https?:/.test(link)) return undefined;
	const [path = '', anchor] = link.split('#');
	if (path.startsWith('/')) return `${file}: ${link} is not relative`;
	const target = path === '' ? file : join(dirname(file), path);
	if (!existsSync(join(root, target))) return `${file}: ${link} does not exist`;
	if (anchor === undefined || !target.endsWith('.md')) return undefined;
	return anchorsOf(readPage(target)).has(anchor) ? undefined : `${file}: ${link} has no such heading`;
}

test('finds broken links', t => {
	t.is(problemOf('docs/view.md', 'keys.md'), 'docs/view.md: keys.md does not exist');
	t.is(problemOf('docs/view.md', '#no-such'), 'docs/view.md: #no-such has no such heading');
	t.is(problemOf('docs/view.md', '#keys'), undefined);
	t.is(problemOf('docs/view.md', '/x.md'), 'docs/view.md: /x.md is not relative');
});

const others = readdirSync(root).filter(name => name.endsWith('.md') && name !== 'README.md');

for (const file of [...pages, ...others, 'bench/README.md'])
	test(`links of ${file} point to files and headings that exist`, t => {
		const links = [...withoutCode(readPage(file)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
		t.deepEqual(
			links.flatMap(link => problemOf(file, link) ?? []),
			[],
		);
	});

test('docs/README.md lists each page of docs', t => {
	const contents = readPage('docs/README.md');
	const missing = pages.filter(
		file => file.startsWith('docs/') && file !== 'docs/README.md' && !contents.includes(`](${file.slice(5)}`),
	);
	t.deepEqual(missing, []);
});

test('README.md has at most 200 lines', t => {
	t.true(readPage('README.md').split('\n').length <= 201);
});

test('README.md names the release of the SDK that its transcripts are from', t => {
	const {dependencies} = JSON.parse(readPage('test/peers/package.json')) as {
		dependencies: Readonly<Record<string, string>>;
	};
	const sdk = '@modelcontextprotocol/sdk';
	t.true(readPage('README.md').includes(`\`${sdk}\` ${dependencies[sdk]}`));
});

test('docs/packages.md names each package that bridge, its tests and its scripts use', t => {
	const {dependencies, optionalDependencies, devDependencies} = JSON.parse(readPage('package.json')) as {
		readonly [kind: string]: Readonly<Record<string, string>>;
	};
	const names = Object.keys({...dependencies, ...optionalDependencies, ...devDependencies});
	const page = readPage('docs/packages.md');
	t.deepEqual(
		names.filter(name => !/^(?:@types\/|sdk-)/.test(name) && !page.includes(`\`${name}\``)),
		[],
	);
});
