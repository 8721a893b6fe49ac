import {readdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {stepsOf} from './transcript.js';

/** The repository. This file runs as dist/test/docs/blocks.js. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A fenced block of a page. */
export type Block = {
	/** Relative to the repository. */
	readonly file: string;
	/** The line of its first fence. */
	readonly line: number;
	readonly language: string;
	readonly text: string;
	/** The reason why it cannot be run, from a comment `not run: REASON` before it. */
	readonly reason: string | undefined;
	/** Commands of a comment `setup: …` before it, which prepare what its readers already have. */
	readonly setup: string | undefined;
	/** Whether it needs the packages of test/peers: a comment `peers` before it, or `npx` in it. */
	readonly needsPeers: boolean;
};

const comment = /<!-- (peers|not run: [^>]+?|setup: .+?) -->/gs;
/** The comments directly before a fence. */
const commentsBefore = /(?: *<!-- (?:(?!-->).)* -->\n+)+$/s;
/** Also in a list, where all lines of the block are indented. */
const fence = /^( *)```(\S*)\n(.*?)^\1```$/gms;
/** npx runs bridge itself from this repository, and everything else from test/peers. */
const runsPackage = /\bnpx (?:-y )?(?!-y |mcp-stream-bridge\b)\S/;

/** Whether a command of a block, not its output, runs a package. */
const runsPackages = (language: string, text: string): boolean =>
	language === 'sh' && stepsOf({line: 0, text}).some(({command}) => runsPackage.test(command));

function blockAt(file: string, page: string, match: RegExpExecArray): Block {
	const [, indent = '', language = '', indented = ''] = match;
	const text = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
	const before = page.slice(0, match.index);
	const comments = [...(commentsBefore.exec(before)?.[0] ?? '').matchAll(comment)].map(
		([, content = '']) => content,
	);
	const after = (start: string): string | undefined =>
		comments.find(content => content.startsWith(start))?.slice(start.length);
	return {
		file,
		language,
		text,
		line: before.split('\n').length,
		reason: after('not run: '),
		setup: after('setup: '),
		needsPeers: comments.includes('peers') || runsPackages(language, text),
	};
}

/** The fenced blocks of a page. */
export const blocksOf = (file: string, page: string): Block[] =>
	[...page.matchAll(fence)].map(match => blockAt(file, page, match));

export const readPage = (file: string): string => readFileSync(`${root}/${file}`, 'utf8');

/** The README and the pages in docs. */
export const pages: readonly string[] = [
	'README.md',
	...readdirSync(`${root}/docs`)
		.filter(name => name.endsWith('.md'))
		.sort()
		.map(name => `docs/${name}`),
];

/** The name of the file that a block shows, from its first line. */
export const fileNameOf = ({text}: Block): string | undefined =>
	/^(?:#|\/\/) ((?:~\/)?[\w./-]+\.\w+)\n/.exec(text)?.[1];

export const placeOf = ({file, line}: Block): string => `${file}:${line}`;
