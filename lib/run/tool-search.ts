import {parameters} from './schema.js';
import type {PackTool} from './types.js';

/** The searched part of a query, and of a tool's name and description. The rest does not count. */
const MAX_QUERY = 4000;
const MAX_WORDS = 50;
const MAX_NAME = 200;
const MAX_DESCRIPTION = 2000;
const MAX_PARAMETERS = 100;

/** The words of a tool, those of its description in order. */
type ToolWords = {readonly name: readonly string[]; readonly rest: readonly string[]};

const known = new WeakMap<PackTool, ToolWords>();

/** Returns how well tools fit a query: words in names count more than words in descriptions. */
export function toolSearch(query: string): (packName: string, tool: PackTool) => number {
	const wanted = [...new Set(wordsIn(query.slice(0, MAX_QUERY)))].slice(0, MAX_WORDS);
	return (packName, tool) => {
		const {name, rest} = wordsOf(tool);
		const names = [...wordsIn(packName.slice(0, MAX_NAME)), ...name];
		return wanted.reduce((sum, word) => sum + weightOf(word, names, rest), 0);
	};
}

function weightOf(word: string, name: readonly string[], rest: readonly string[]): number {
	if (name.includes(word)) return 10;
	if (name.some(part => part.startsWith(word) || word.startsWith(part))) return 5;
	const next = firstFrom(rest, word);
	if (next === word) return 3;
	return next?.startsWith(word) ? 1 : 0;
}

/** The first of some ordered words that does not come before this one, by binary search. */
function firstFrom(words: readonly string[], word: string): string | undefined {
	let [low, high] = [0, words.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((words[middle] ?? '') < word) low = middle + 1;
		else high = middle;
	}
	return words[low];
}

/** Tools are split into words once, not with each search. */
function wordsOf(tool: PackTool): ToolWords {
	const before = known.get(tool);
	if (before) return before;
	const {name, description = '', inputSchema} = tool;
	const named = parameters(inputSchema).slice(0, MAX_PARAMETERS);
	const rest = [description.slice(0, MAX_DESCRIPTION), ...named.map(each => each.name.slice(0, MAX_NAME))];
	const words = {name: wordsIn(name.slice(0, MAX_NAME)), rest: wordsIn(rest.join(' ')).sort(byText)};
	known.set(tool, words);
	return words;
}

const wordsIn = (text: string): string[] =>
	text
		.replace(/([a-z])([A-Z])/g, '$1 $2')
		.toLowerCase()
		.match(/[\p{L}\p{N}]+/gu) ?? [];

const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
