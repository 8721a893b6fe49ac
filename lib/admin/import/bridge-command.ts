import {basename} from 'node:path';

type Words = readonly string[];

/** The arguments of bridge, if a command runs it: by its name, by its package, or by Node and the path of its program. */
export function bridgeArgs([command = '', ...args]: Words): Words | undefined {
	if (/^(?:mcp-)?bridge(?:\.cmd|\.js)?$/.test(fileName(command))) return args;
	const isNpx = /^npx(?:\.cmd)?$/.test(fileName(command));
	const at = args[0] === '-y' ? 1 : 0;
	if (isNpx && /^mcp-stream-bridge(?:@[^/]*)?$/.test(args[at] ?? '')) return args.slice(at + 1);
	const isNode = /^node(?:js)?(?:\.exe)?$/.test(fileName(command));
	return isNode && fileName(args[0] ?? '') === 'bridge.js' ? args.slice(1) : undefined;
}

/** The command that `bridge -- COMMAND` is in front of, if it has no flags of its own. */
export function wrappedCommand(words: Words): Words | undefined {
	const args = bridgeArgs(words);
	return args?.[0] === '--' && args.length > 1 ? args.slice(1) : undefined;
}

const fileName = (path: string): string => basename(path.replaceAll('\\', '/')).toLowerCase();
