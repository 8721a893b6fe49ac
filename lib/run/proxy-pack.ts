import {setImmediate} from 'node:timers/promises';
import {nearest} from '../nearest.js';
import {folded, listed} from './names.js';
import {type Packs, PROXY} from './packs.js';
import {ProgramError} from './program-error.js';
import {members, parameters} from './schema.js';
import {signature, typeName} from './signature.js';
import {toolSearch} from './tool-search.js';
import type {Arguments, Pack, PackTool, RunnerOptions} from './types.js';

const text = {type: 'string'};

const tools: readonly PackTool[] = [
	{name: 'list_servers', description: 'The configured servers, and whether each is connected.'},
	{
		name: 'list_tools',
		description: 'The tools of one server or pack, or of all.',
		inputSchema: {type: 'object', properties: {server: text}},
	},
	{
		name: 'search',
		description: 'The tools whose names and descriptions fit the words best.',
		inputSchema: {
			type: 'object',
			properties: {query: text, limit: {type: 'integer', default: 10}},
			required: ['query'],
		},
	},
	{
		name: 'help',
		description: 'How to call a tool ("pack.tool"), or what there is in a pack, or which packs there are.',
		inputSchema: {type: 'object', properties: {name: text}},
	},
];

/** The pack that tells of all the others. */
export function proxyPack(packs: () => Packs, servers: RunnerOptions['servers']): Pack {
	const answers = new Map<string, (args: Arguments) => unknown>([
		['list_servers', () => listServers(packs(), servers)],
		['list_tools', ({server}) => listTools(packs(), server)],
		['search', ({query, limit}) => search(packs(), String(query ?? ''), Number(limit ?? 10))],
		['help', ({name}) => help(packs(), name)],
	]);
	return {
		name: PROXY,
		source: 'local',
		description: 'what there is: list_servers, list_tools, search, help',
		tools,
		call: async (tool, args) => {
			// A batch of these would else keep the main thread until all of them are done.
			await setImmediate();
			return answers.get(tool)?.(args);
		},
	};
}

function listServers(packs: Packs, servers: RunnerOptions['servers']): unknown {
	if (servers) return servers();
	const proxied = [...packs.entries].map(([, pack]) => pack).filter(({source}) => source === 'proxied');
	return proxied.map(({name, unavailable}) => ({name, enabled: true, connected: unavailable === undefined}));
}

/** A tool, its pack, and the name that a program writes, if Python can spell one. */
type Entry = {readonly packName: string; readonly tool: PackTool; readonly spelling: string | undefined};

function entriesOf(packs: Packs, packName: string, pack: Pack): Entry[] {
	const names = packs.namesOf(pack);
	return pack.tools.map(tool => ({packName, tool, spelling: names.spelling(tool)}));
}

const nameOf = ({tool, spelling}: Entry): string => spelling ?? tool.name;

const fullNameOf = (entry: Entry): string => `${entry.packName}.${nameOf(entry)}`;

const signatureOf = ({packName, tool, spelling}: Entry): string =>
	signature(
		spelling === undefined ? `getattr(${packName}, ${JSON.stringify(tool.name)})` : `${packName}.${spelling}`,
		tool,
	);

function listTools(packs: Packs, server: unknown): unknown {
	if (server === undefined || server === null) {
		return allEntries(packs).map(entry => ({...brief(entry), name: fullNameOf(entry)}));
	}
	const [packName, pack] = packNamed(packs, String(server));
	if (pack.unavailable !== undefined) {
		throw new ProgramError('ToolError', `Server '${pack.name}' not connected: ${pack.unavailable}`);
	}
	return entriesOf(packs, packName, pack).map(brief);
}

function allEntries(packs: Packs): Entry[] {
	return [...packs.entries].flatMap(([name, pack]) => (name === PROXY ? [] : entriesOf(packs, name, pack)));
}

/** A name over this length is not looked for as another spelling, and not shown in full. */
const MAX_NAME = 200;

function packNamed(packs: Packs, given: string): [string, Pack] {
	const name = given.slice(0, MAX_NAME);
	const entries = [...packs.entries];
	const found =
		entries.find(([packName, pack]) => packName === name || pack.name === name) ??
		entries.find(([packName]) => folded(packName) === folded(name));
	if (found) return found;
	const names = entries.map(([packName]) => packName);
	const guess = nearest(name, names);
	const available = `Available: ${listed(names)}`;
	throw new ProgramError(
		'ValueError',
		`Server '${name}' not connected. ${available}${guess && `. ${guess}`}`,
	);
}

function brief(entry: Entry): {name: string; signature: string; description: string} {
	return {name: nameOf(entry), signature: signatureOf(entry), description: firstSentence(entry.tool)};
}

/** What a description says first: the rest is for `help`. */
function firstSentence({description = ''}: PackTool): string {
	const [line = ''] = description.trim().split('\n');
	const sentence = /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
	return sentence.length <= 200 ? sentence : `${sentence.slice(0, 200)}…`;
}

/** The tools that fit a query. */
function search(packs: Packs, query: string, limit: number): unknown {
	const fitness = toolSearch(query);
	const scored = allEntries(packs).map(entry => ({entry, score: fitness(entry.packName, entry.tool)}));
	return scored
		.filter(({score}) => score > 0)
		.sort((one, other) => other.score - one.score)
		.slice(0, Math.max(1, limit))
		.map(({entry}) => ({...brief(entry), name: fullNameOf(entry)}));
}

function help(packs: Packs, name: unknown): string {
	if (typeof name !== 'string' || name === '') {
		const lines = [...packs.entries]
			.sort(byName)
			.map(([packName, pack]) => `${packName}: ${pack.description ?? `${pack.tools.length} tools`}`);
		return ['Packs:', ...lines, 'proxy.help("pack") lists the tools of one.'].join('\n');
	}
	const [packName = '', ...rest] = name.split('.');
	const [found, pack] = packNamed(packs, packName);
	if (rest.length === 0) {
		return entriesOf(packs, found, pack)
			.map(entry => `${brief(entry).signature}  # ${brief(entry).description}`)
			.join('\n');
	}
	const {tool} = packs.tool(found, rest.join('.'));
	return helpOn({packName: found, tool, spelling: packs.namesOf(pack).spelling(tool)});
}

const byName = ([one]: [string, Pack], [other]: [string, Pack]): number => (one < other ? -1 : 1);

function helpOn(entry: Entry): string {
	const {tool} = entry;
	const lines = parameters(tool.inputSchema).map(({name, schema, isRequired}) => {
		const {description} = members(schema);
		const needed = isRequired ? '' : ', optional';
		return `  ${name}: ${typeName(schema)}${needed}${typeof description === 'string' ? ` – ${description}` : ''}`;
	});
	return [signatureOf(entry), tool.description ?? '', ...lines].filter(line => line !== '').join('\n');
}
