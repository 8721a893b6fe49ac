import {execFileSync} from 'node:child_process';
import {readFileSync, statSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {root} from './blocks.js';
import {normalized} from './match.js';

/**
 * The lines of a recording that are the same in each run, in any order, since the client sends requests at
 * once.
 */
const linesOf = (svg: string): string[] =>
	[...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)]
		.map(([, text = '']) => normalized(text.replace(/<[^>]+>/g, '')))
		.sort((a, b) => (a < b ? -1 : 1));

test('docs/demo.svg shows what bridge --debug prints', t => {
	t.timeout(120_000);
	const svg = readFileSync(join(root, 'docs/demo.svg'), 'utf8');
	const recorded = execFileSync(process.execPath, [join(root, 'docs/record/demo.mjs'), '-'], {
		encoding: 'utf8',
	});
	t.deepEqual(linesOf(svg), linesOf(recorded));
	t.true(linesOf(svg).length > 10);
	t.true(statSync(join(root, 'docs/demo.svg')).size < 60_000);
});
