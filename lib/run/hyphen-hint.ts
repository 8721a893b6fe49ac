import type {RunPacks} from './run-packs.js';

const HYPHENATED = /\b([A-Za-z_]\w*)\.(\w+(?:-\w+)+)\s*\(/g;

/**
 * What to tell whoever wrote `pack.some-tool(…)`: Python takes that for a subtraction, and what it then says is of no
 * help to anybody. Empty for all other programs.
 */
export function hyphenHint(code: string, packs: RunPacks): string {
	for (const [, packName = '', toolName = ''] of code.matchAll(HYPHENATED)) {
		const pack = packs.get(packName);
		const spelling = pack && packs.toolsOf(pack).find(({tool}) => tool.name === toolName)?.pythonName;
		if (spelling !== undefined)
			return ` Python reads ${packName}.${toolName} as a subtraction: write ${packName}.${spelling}(…).`;
	}
	return '';
}
