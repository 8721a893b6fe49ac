import test from 'ava';
import {commands} from '../../bin/commands/index.js';
import {readPage} from './blocks.js';

/** Commands whose page does not have their name. */
const pageNames: ReadonlyMap<string, string> = new Map([
	['config', 'configuration'],
	['help', 'completion'],
	['version', 'completion'],
]);

/** Flags of several commands are described once. */
const shared = ['docs/wrap.md', 'docs/traffic-log.md', 'docs/versions.md'].map(readPage).join('');

const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;

const ofHelp = new Set(['--help', '--version']);

for (const {name, title, command} of await commands.all())
	test(`the page of ${title} describes its flags, and the README and docs/README.md name it`, t => {
		const file = `${pageNames.get(name) ?? name}.md`;
		const described = readPage(`docs/${file}`) + shared;
		const flags = Object.keys(command.options).map(flagOf);
		t.deepEqual(
			flags.filter(flag => !ofHelp.has(flag) && !new RegExp(`\`[^\`]*${flag}\\b`).test(described)),
			[],
		);
		for (const contents of ['README.md', 'docs/README.md'])
			t.true(
				readPage(contents).includes(contents === 'README.md' ? `(docs/${file})` : `(${file})`),
				contents,
			);
	});

/** A heading, a paragraph, comments, and a block. */
const beginsWithExample =
	/^# [^\n]+\n\n(?:[^\n`|#<]|`(?!``))(?:[^\n]+\n)+\n(?:<!-- .*? -->\n)*```(?:sh|json|yaml)\n/s;

test('the page of each command begins with a sentence and an example', async t => {
	const names = (await commands.all()).map(({name}) => pageNames.get(name) ?? name);
	t.deepEqual(
		[...new Set(names)].filter(name => !beginsWithExample.test(readPage(`docs/${name}.md`))),
		[],
	);
});
