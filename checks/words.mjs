// The words of the glossary: docs/glossary.md lists what to write instead.
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {markdownProse, proseOf} from './prose.mjs';
import {filesIn, placeOf, read} from './sources.mjs';

/** Patterns that no sentence of the project contains, with what to write instead. */
const RULES = [
	[/\b(?:tells?|told|telling)\b/gi, 'report, notify, send, log, return'],
	[/\b(?:says?|said|saying)\b/gi, 'send, contain, state, report'],
	[/\b(?:hears?|heard|hearing)\b/gi, 'receive'],
	[/\b(?:forgets?|forgot|forgotten|forgetting)\b/gi, 'evict, drop, discard'],
	[/\b(?:nobody|somebody|whoever|whomever)\b/gi, 'the subject: "no client", "a client that …"'],
	[/(?:^|[.:;!?] |\/\*\* )(?:Who|Whom|Whose)\b(?![^.:;]*\?)/gm, 'the subject: "A client that …"'],
	[
		/\b(?<!there )(?:is|are|was|were) no (?!longer\b|more than\b|less than\b|later than\b|earlier than\b)/gi,
		'"is not a"',
	],
	[/\bso (?:many|much|few)\b/gi, '"this many", or the number'],
	[
		/\bof (?:its|their|your|bridge's) own accord\b|\bon its accord\b/gi,
		'unsolicited, server-initiated, "on its own"',
	],
	[/\bsha(?:kes?|ken|king|ook) hands\b/gi, 'initialize, handshake'],
	[/\bstands? (?:in|next to|before|behind|where)\b/gi, 'is in, is next to'],
	[/\bbe it\b/gi, '"whether … or …"'],
	[
		/\b(?:carried|carries|carry|goes|go|went|taken|takes|take|took) (?:on with|up again)\b/gi,
		'continue, resume',
	],
	[/\b(?:handed|hands|hand) on\b/gi, 'forward'],
	[/\banswer(?:s|ed|ing)?\b/gi, 'response, reply, respond'],
	[/\bquestions?\b/gi, 'request, server request, prompt'],
	[/\bwhereabouts\b|\bturnstile\b|\bledger\b|\bpost office\b/gi, 'the standard term in docs/glossary.md'],
	[/\bwants? to know\b|\bis known of\b|\bto be had\b|\bcome back to\b/gi, 'a plain verb'],
];

/** Words that files need: as names of methods and tools, as texts of other programs, or as explained terms. */
const EXCEPTIONS = [
	[/^docs\/glossary\.md$/, /./],
	[/^test\/checks\/lint\.test\.ts$/, /./],
	[/^(?:bench|fixtures|test)\//, /^(?:say|said|says|nobody)$/i],
];

const isSentence = ({kind, text}) => kind === 'comment' || /[a-z] [a-z]/i.test(text);

/** The sentences of a file, each with its position. */
function sentencesOf(file, text) {
	if (file.endsWith('.md')) return [{at: 0, text: markdownProse(text)}];
	return proseOf(text).filter(isSentence);
}

export function checkWords(root) {
	const sources = ['bin', 'lib', 'pipelines', 'test', 'fixtures', 'bench', 'checks'].flatMap(folder => [
		...filesIn(root, folder),
		...filesIn(root, folder, '.mjs'),
	]);
	const pages = [
		...filesIn(root, 'docs', '.md'),
		...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md'].filter(file =>
			existsSync(join(root, file)),
		),
	];
	return [...sources, ...pages].flatMap(file => {
		const text = read(root, file);
		return sentencesOf(file, text).flatMap(sentence =>
			RULES.flatMap(([pattern, instead]) =>
				[...sentence.text.matchAll(pattern)]
					.filter(([word]) => !EXCEPTIONS.some(([path, words]) => path.test(file) && words.test(word.trim())))
					.map(
						({0: word, index}) =>
							`${placeOf(file, text, sentence.at + index)}: "${word.trim()}". Write: ${instead}.`,
					),
			),
		);
	});
}
