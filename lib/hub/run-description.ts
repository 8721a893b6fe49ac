import {displayName, PROXY_PACK, type RunPacks} from '../run/run-packs.js';

/** The maximum number of tools to name per pack, and the maximum length of their names. */
const MAX_TOOLS = 8;
const MAX_NAMES = 160;

const NOTATION = `Run Python that calls tools as pack.tool(name=value). Results are data: r[0].name, r["name"]. The last expression is returned. Loops, comprehensions, f-strings, try/except (ToolError) work.
Find tools: proxy.search("text"), proxy.help("pack.tool"), proxy.list_tools(server="pack").`;

/**
 * Returns the description of the `run` tool: the notation, and one line per pack. It is kept short, since it
 * costs tokens.
 */
export function describeRun(packs: RunPacks): string {
	const lines = [...packs.entries]
		.filter(([name]) => name !== PROXY_PACK)
		.map(([name, pack]) => `${name}: ${toolNames(packs.toolsOf(pack).map(displayName))}`);
	return lines.length === 0
		? `${NOTATION}\nNo packs are available yet.`
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
