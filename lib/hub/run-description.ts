import {displayName, PROXY_PACK, type RunPacks} from '../run/run-packs.js';

/** How many tools of a pack are named, and how long the names of one pack may be. */
const MAX_TOOLS = 8;
const MAX_NAMES = 160;

const NOTATION = `Run Python that calls tools as pack.tool(name=value). Results are data: r[0].name, r["name"]. The last expression is returned. Loops, comprehensions, f-strings, try/except (ToolError) work.
Find tools: proxy.search("text"), proxy.help("pack.tool"), proxy.list_tools(server="pack").`;

/** What a model is told of the `run` tool: the notation, and each pack in a line. It pays for every word. */
export function describeRun(packs: RunPacks): string {
	const lines = [...packs.entries]
		.filter(([name]) => name !== PROXY_PACK)
		.map(([name, pack]) => `${name}: ${toolNames(packs.toolsOf(pack).map(displayName))}`);
	return lines.length === 0
		? `${NOTATION}\nNo pack is there yet.`
		: `${NOTATION}\nPacks:\n${lines.join('\n')}`;
}

function toolNames(names: readonly string[]): string {
	let text = '';
	let shownCount = 0;
	for (const name of names.slice(0, MAX_TOOLS)) {
		if (text.length + name.length > MAX_NAMES) break;
		text += `${shownCount++ === 0 ? '' : ', '}${name}`;
	}
	if (names.length === 0) return 'no tools';
	const hiddenCount = names.length - shownCount;
	return hiddenCount > 0 ? `${text}${shownCount > 0 ? ', ' : ''}+${hiddenCount}` : text;
}
