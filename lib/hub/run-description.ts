import {type Packs, PROXY, shownName} from '../run/packs.js';

/** How many tools of a pack are named, and how long the names of one pack may be. */
const MAX_TOOLS = 8;
const MAX_NAMES = 160;

const NOTATION = `Run Python that calls tools as pack.tool(name=value). Results are data: r[0].name, r["name"]. The last expression is returned. Loops, comprehensions, f-strings, try/except (ToolError) work.
Find tools: proxy.search("text"), proxy.help("pack.tool"), proxy.list_tools(server="pack").`;

/** What a model is told of the `run` tool: the notation, and each pack in a line. It pays for every word. */
export function describeRun(packs: Packs): string {
	const lines = [...packs.entries]
		.filter(([name]) => name !== PROXY)
		.map(([name, pack]) => `${name}: ${toolNames(packs.toolsOf(pack).map(shownName))}`);
	return lines.length === 0
		? `${NOTATION}\nNo pack is there yet.`
		: `${NOTATION}\nPacks:\n${lines.join('\n')}`;
}

function toolNames(names: readonly string[]): string {
	let text = '';
	let shown = 0;
	for (const name of names.slice(0, MAX_TOOLS)) {
		if (text.length + name.length > MAX_NAMES) break;
		text += `${shown++ === 0 ? '' : ', '}${name}`;
	}
	if (names.length === 0) return 'no tools';
	const left = names.length - shown;
	return left > 0 ? `${text}${shown > 0 ? ', ' : ''}+${left}` : text;
}
