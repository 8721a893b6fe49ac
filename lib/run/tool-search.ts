import {inputParameters} from './input-schema.js';
import type {PackTool} from './types.js';

/** Only the beginning of a query, and of the name and description of a tool, is searched. */
const MAX_QUERY = 4000;
const MAX_WORDS = 50;
const MAX_NAME = 200;
const MAX_DESCRIPTION = 2000;
const MAX_PARAMETERS = 100;

/** The words of a tool. `rest` is sorted. */
type ToolWords = {readonly name: readonly string[]; readonly rest: readonly string[]};

const wordsCache = new WeakMap<PackTool, ToolWords>();

/** Returns a function that scores tools for a query. Words in names count more than words in descriptions. */
export function createToolScorer(query: string): (packName: string, tool: PackTool) => number {
	const queryWords = [...new Set(splitWords(query.slice(0, MAX_QUERY)))].slice(0, MAX_WORDS);
	return (packName, tool) => {
		const {name, rest} = wordsOf(tool);
		const names = [...splitWords(packName.slice(0, MAX_NAME)), ...name];
		return queryWords.reduce((sum, word) => sum + scoreWord(word, names, rest), 0);
	};
}

function scoreWord(word: string, name: readonly string[], rest: readonly string[]): number {
	if (name.includes(word)) return 10;
	if (name.some(part => part.startsWith(word) || word.startsWith(part))) return 5;
	const next = lowerBound(rest, word);
	if (next === word) return 3;
	return next?.startsWith(word) ? 1 : 0;
}

/** The first word in sort order that is not before this one, by binary search. */
function lowerBound(words: readonly string[], word: string): string | undefined {
	let [low, high] = [0, words.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((words[middle] ?? '') < word) low = middle + 1;
		else high = middle;
	}
	return words[low];
}

/** Cached, so that repeated searches do not split the same text again. */
function wordsOf(tool: PackTool): ToolWords {
	const cached = wordsCache.get(tool);
	if (cached) return cached;
	const {name, description = '', inputSchema} = tool;
	const searchedParameters = inputParameters(inputSchema).slice(0, MAX_PARAMETERS);
	const rest = [
		description.slice(0, MAX_DESCRIPTION),
		...searchedParameters.map(each => each.name.slice(0, MAX_NAME)),
	];
	const words = {
		name: splitWords(name.slice(0, MAX_NAME)),
		rest: splitWords(rest.join(' ')).sort(compareText),
	};
	wordsCache.set(tool, words);
	return words;
}

const splitWords = (text: string): string[] =>
	text
		.replace(/([a-z])([A-Z])/g, '$1 $2')
		.toLowerCase()
		.match(/[\p{L}\p{N}]+/gu) ?? [];

const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
