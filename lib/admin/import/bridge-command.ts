import {basename} from 'node:path';

type Words = readonly string[];

/**
 * Returns the arguments of bridge if a command runs it by name, as a package, or as Node with the path of its
 * script.
 */
export function bridgeArgs([command = '', ...args]: Words): Words | undefined {
	if (/^(?:mcp-)?bridge(?:\.cmd|\.js)?$/.test(fileName(command))) return args;
	const isNpx = /^npx(?:\.cmd)?$/.test(fileName(command));
	const at = args[0] === '-y' ? 1 : 0;
	if (isNpx && /^mcp-stream-bridge(?:@[^/]*)?$/.test(args[at] ?? '')) return args.slice(at + 1);
	const isNode = /^node(?:js)?(?:\.exe)?$/.test(fileName(command));
	return isNode && fileName(args[0] ?? '') === 'bridge.js' ? args.slice(1) : undefined;
}

/** Returns the command that `bridge -- COMMAND` wraps, if no bridge flags precede the `--`. */
export function wrappedCommand(words: Words): Words | undefined {
	const args = bridgeArgs(words);
	return args?.[0] === '--' && args.length > 1 ? args.slice(1) : undefined;
}

const fileName = (path: string): string => basename(path.replaceAll('\\', '/')).toLowerCase();
