import {setImmediate} from 'node:timers/promises';
import {didYouMean} from '../util/did-you-mean.js';
import {asObject, inputParameters} from './input-schema.js';
import {ProgramError} from './program-error.js';
import {foldName, formatNames, toPythonName} from './python-identifiers.js';
import {displayName, type NamedTool, PROXY_PACK, type RunPacks} from './run-packs.js';
import {formatSignature, pythonTypeName} from './signature.js';
import {createToolScorer} from './tool-search.js';
import type {Arguments, Pack, PackTool, RunnerOptions} from './types.js';

const stringSchema = {type: 'string'};

const proxyTools: readonly PackTool[] = [
	{name: 'list_servers', description: 'Lists the configured servers and whether each is connected.'},
	{
		name: 'list_tools',
		description: 'Lists the tools of one server or pack, or of all.',
		inputSchema: {type: 'object', properties: {server: stringSchema}},
	},
	{
		name: 'search',
		description: 'Finds the tools whose names and descriptions best match the query.',
		inputSchema: {
			type: 'object',
			properties: {query: stringSchema, limit: {type: 'integer', default: 10}},
			required: ['query'],
		},
	},
	{
		name: 'help',
		description: 'Shows how to call a tool ("pack.tool"), the tools of a pack, or all packs.',
		inputSchema: {type: 'object', properties: {name: stringSchema}},
	},
];

/** Creates the built-in pack that lists and searches all other packs. */
export function createProxyPack(packs: () => RunPacks, servers: RunnerOptions['servers']): Pack {
	const handlers = new Map<string, (args: Arguments) => unknown>([
		['list_servers', () => listServers(packs(), servers)],
		['list_tools', ({server}) => listTools(packs(), server, servers)],
		['search', ({query, limit}) => searchTools(packs(), String(query ?? ''), Number(limit ?? 10))],
		['help', ({name}) => help(packs(), name)],
	]);
	return {
		name: PROXY_PACK,
		source: 'local',
		description: 'servers and tools: list_servers, list_tools, search, help',
		tools: proxyTools,
		call: async (tool, args) => {
			// Yields, so that a batch of these calls does not block the main thread.
			await setImmediate();
			return handlers.get(tool)?.(args);
		},
	};
}

/** Lists the servers with the names of their packs. A disabled server has no pack. */
function listServers(packs: RunPacks, servers: RunnerOptions['servers']): unknown {
	const proxied = new Map(
		[...packs.entries].flatMap(([packName, pack]) => {
			const server = pack.source === 'proxied' ? pack : pack.fallback;
			return server ? [[server.name, {packName, server}]] : [];
		}),
	);
	const states =
		servers?.() ??
		[...proxied.values()].map(({server: {name, unavailableReason}}) => ({
			name,
			enabled: true,
			connected: unavailableReason === undefined,
		}));
	return states.map(({name, ...state}) => {
		const {packName} = proxied.get(name) ?? {};
		return {name, ...(packName === undefined ? {} : {pack: packName}), ...state};
	});
}

type PackEntry = NamedTool & {readonly packName: string};

const entriesOf = (packs: RunPacks, packName: string, pack: Pack): PackEntry[] =>
	packs.toolsOf(pack).map(named => ({packName, ...named}));

const fullNameOf = (entry: PackEntry): string => `${entry.packName}.${displayName(entry)}`;

const signatureOf = ({packName, tool, pythonName}: PackEntry): string =>
	formatSignature(
		pythonName === undefined
			? `getattr(${packName}, ${JSON.stringify(tool.name)})`
			: `${packName}.${pythonName}`,
		tool,
	);

function listTools(packs: RunPacks, server: unknown, servers: RunnerOptions['servers']): unknown {
	if (server === undefined || server === null) {
		return allEntries(packs).map(entry => ({...summarize(entry), name: fullNameOf(entry)}));
	}
	const wantedName = String(server);
	const disabled = servers?.().find(
		({name, enabled}) => !enabled && (name === wantedName || toPythonName(name) === wantedName),
	);
	if (disabled && !packs.get(wantedName))
		throw new ProgramError(
			'ToolError',
			`Server '${disabled.name}' not connected: it is disabled (enabled: false)`,
		);
	const [packName, pack] = findPack(packs, wantedName);
	if (pack.unavailableReason !== undefined) {
		throw new ProgramError('ToolError', `Server '${pack.name}' not connected: ${pack.unavailableReason}`);
	}
	return entriesOf(packs, packName, pack).map(summarize);
}

function allEntries(packs: RunPacks): PackEntry[] {
	return [...packs.entries].flatMap(([name, pack]) =>
		name === PROXY_PACK ? [] : entriesOf(packs, name, pack),
	);
}

/** Names are truncated to this length for fuzzy matching and in messages. */
const MAX_NAME = 200;

function findPack(packs: RunPacks, wantedName: string): [string, Pack] {
	const name = wantedName.slice(0, MAX_NAME);
	const entries = [...packs.entries];
	const found =
		entries.find(([packName, pack]) => packName === name || pack.name === name) ??
		entries.find(([packName]) => foldName(packName) === foldName(name));
	if (found) return found;
	const names = entries
		.filter(([packName, {unavailableReason}]) => packName !== PROXY_PACK && unavailableReason === undefined)
		.map(([packName]) => packName);
	const guess = didYouMean(name, names);
	const available = `Available: ${formatNames(names)}`;
	throw new ProgramError(
		'ValueError',
		`Server '${name}' not connected. ${available}${guess && `. ${guess}`}`,
	);
}

function summarize(entry: PackEntry): {name: string; signature: string; description: string} {
	return {name: displayName(entry), signature: signatureOf(entry), description: firstSentence(entry.tool)};
}

/** The first sentence of a description. `help` shows all of it. */
function firstSentence({description = ''}: PackTool): string {
	const [line = ''] = description.trim().split('\n');
	const sentence = /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
	return sentence.length <= 200 ? sentence : `${sentence.slice(0, 200)}…`;
}

function searchTools(packs: RunPacks, query: string, limit: number): unknown {
	const scoreTool = createToolScorer(query);
	const scored = allEntries(packs).map(entry => ({entry, score: scoreTool(entry.packName, entry.tool)}));
	return scored
		.filter(({score}) => score > 0)
		.sort((one, other) => other.score - one.score)
		.slice(0, Math.max(1, limit))
		.map(({entry}) => ({...summarize(entry), name: fullNameOf(entry)}));
}

function help(packs: RunPacks, name: unknown): string {
	if (typeof name !== 'string' || name === '') {
		const lines = [...packs.entries]
			.sort(byName)
			.map(([packName, pack]) => `${packName}: ${pack.description ?? `${packs.toolsOf(pack).length} tools`}`);
		return ['Packs:', ...lines, 'proxy.help("pack") lists the tools of a pack.'].join('\n');
	}
	const [packName = '', ...rest] = name.split('.');
	const [found, pack] = findPack(packs, packName);
	if (rest.length === 0) {
		return entriesOf(packs, found, pack)
			.map(entry => `${summarize(entry).signature}  # ${summarize(entry).description}`)
			.join('\n');
	}
	const {tool} = packs.findTool(found, rest.join('.'));
	const named = packs.toolsOf(pack).find(entry => entry.tool === tool) ?? {tool, pythonName: undefined};
	return toolHelp({packName: found, ...named});
}

const byName = ([one]: [string, Pack], [other]: [string, Pack]): number => (one < other ? -1 : 1);

function toolHelp(entry: PackEntry): string {
	const {tool} = entry;
	const lines = inputParameters(tool.inputSchema).map(({name, schema, isRequired}) => {
		const {description} = asObject(schema);
		const optionalNote = isRequired ? '' : ', optional';
		return `  ${name}: ${pythonTypeName(schema)}${optionalNote}${typeof description === 'string' ? ` – ${description}` : ''}`;
	});
	return [signatureOf(entry), tool.description ?? '', ...lines].filter(line => line !== '').join('\n');
}
