import {setImmediate} from 'node:timers/promises';
import {nearest} from '../nearest.js';
import {folded, listed, spelled} from './names.js';
import {type NamedTool, type Packs, PROXY, shownName} from './packs.js';
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
		['list_tools', ({server}) => listTools(packs(), server, servers)],
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

/** Each server with the name of its pack, which a disabled server does not have. */
function listServers(packs: Packs, servers: RunnerOptions['servers']): unknown {
	const proxied = new Map(
		[...packs.entries].flatMap(([packName, pack]) => {
			const server = pack.source === 'proxied' ? pack : pack.behind;
			return server ? [[server.name, {packName, server}]] : [];
		}),
	);
	const all =
		servers?.() ??
		[...proxied.values()].map(({server: {name, unavailable}}) => ({
			name,
			enabled: true,
			connected: unavailable === undefined,
		}));
	return all.map(({name, ...state}) => {
		const {packName} = proxied.get(name) ?? {};
		return {name, ...(packName === undefined ? {} : {pack: packName}), ...state};
	});
}

/** A tool with the name of its pack. */
type Entry = NamedTool & {readonly packName: string};

const entriesOf = (packs: Packs, packName: string, pack: Pack): Entry[] =>
	packs.toolsOf(pack).map(named => ({packName, ...named}));

const fullNameOf = (entry: Entry): string => `${entry.packName}.${shownName(entry)}`;

const signatureOf = ({packName, tool, spelling}: Entry): string =>
	signature(
		spelling === undefined ? `getattr(${packName}, ${JSON.stringify(tool.name)})` : `${packName}.${spelling}`,
		tool,
	);

function listTools(packs: Packs, server: unknown, servers: RunnerOptions['servers']): unknown {
	if (server === undefined || server === null) {
		return allEntries(packs).map(entry => ({...brief(entry), name: fullNameOf(entry)}));
	}
	const given = String(server);
	const disabled = servers?.().find(
		({name, enabled}) => !enabled && (name === given || spelled(name) === given),
	);
	if (disabled && !packs.get(given))
		throw new ProgramError(
			'ToolError',
			`Server '${disabled.name}' not connected: it is disabled (enabled: false)`,
		);
	const [packName, pack] = packNamed(packs, given);
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
	const names = entries
		.filter(([packName, {unavailable}]) => packName !== PROXY && unavailable === undefined)
		.map(([packName]) => packName);
	const guess = nearest(name, names);
	const available = `Available: ${listed(names)}`;
	throw new ProgramError(
		'ValueError',
		`Server '${name}' not connected. ${available}${guess && `. ${guess}`}`,
	);
}

function brief(entry: Entry): {name: string; signature: string; description: string} {
	return {name: shownName(entry), signature: signatureOf(entry), description: firstSentence(entry.tool)};
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
			.map(([packName, pack]) => `${packName}: ${pack.description ?? `${packs.toolsOf(pack).length} tools`}`);
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
	const named = packs.toolsOf(pack).find(one => one.tool === tool) ?? {tool, spelling: undefined};
	return helpOn({packName: found, ...named});
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
