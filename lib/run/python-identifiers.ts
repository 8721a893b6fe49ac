const keywords = new Set(
	(
		'False None True and as assert async await break class continue def del elif else except finally for from ' +
		'global if import in is lambda nonlocal not or pass raise return try while with yield'
	).split(' '),
);

/** Names that the interpreter uses itself. No pack can have them. */
const reservedNames = new Set(
	'__annotations__ __awaitable__ __build_class__ __builtins__ __debug__ __doc__ __file__ __import__ __loader__ __name__ __package__ __spec__ __value__'.split(
		' ',
	),
);

/** Whether the text is a valid ASCII identifier. Other identifiers are left to Python. */
export const isPythonName = (text: string): boolean =>
	/^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !keywords.has(text);

/** Converts a name to a valid Python identifier: `my-server` becomes `my_server`. */
export function toPythonName(name: string): string {
	const letters = name.replace(/[^A-Za-z0-9_]/g, '_');
	const identifier = /^[A-Za-z_]/.test(letters) ? letters : `_${letters}`;
	return keywords.has(identifier) || reservedNames.has(identifier) ? `${identifier}_` : identifier;
}

/** Normalizes a name for comparison: `listSites`, `list-sites` and `list_sites` are equal. */
export const foldName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const MAX_LISTED = 50;

/** Formats names for a message: sorted, and truncated after `MAX_LISTED`. */
export function formatNames(names: Iterable<string>): string {
	const sorted = [...names].sort();
	if (sorted.length === 0) return 'none';
	const more = sorted.length - MAX_LISTED;
	return sorted.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` (and ${more} more)` : '');
}
