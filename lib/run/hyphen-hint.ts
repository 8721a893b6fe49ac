import type {RunPacks} from './run-packs.js';

const HYPHENATED = /\b([A-Za-z_]\w*)\.(\w+(?:-\w+)+)\s*\(/g;

/**
 * Returns a hint for `pack.some-tool(…)`, which Python parses as a subtraction and reports with a confusing
 * error. Empty for all other programs.
 */
export function hyphenHint(code: string, packs: RunPacks): string {
	for (const [, packName = '', toolName = ''] of code.matchAll(HYPHENATED)) {
		const pack = packs.get(packName);
		const spelling = pack && packs.toolsOf(pack).find(({tool}) => tool.name === toolName)?.pythonName;
		if (spelling !== undefined)
			return ` Python parses ${packName}.${toolName} as a subtraction; write ${packName}.${spelling}(…).`;
	}
	return '';
}
