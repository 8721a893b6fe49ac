const keywords = new Set(
	(
		'False None True and as assert async await break class continue def del elif else except finally for from ' +
		'global if import in is lambda nonlocal not or pass raise return try while with yield'
	).split(' '),
);

/** Names that mean something to the interpreter itself, so that no pack may take them. */
const reservedNames = new Set(
	'__annotations__ __awaitable__ __build_class__ __builtins__ __debug__ __doc__ __file__ __import__ __loader__ __name__ __package__ __spec__ __value__'.split(
		' ',
	),
);

/** Whether Python reads this as a name. Names beyond ASCII are left to Python itself. */
export const isPythonName = (text: string): boolean =>
	/^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !keywords.has(text);

/** The name under which Python can spell this one: `my-server` is `my_server`. */
export function toPythonName(name: string): string {
	const letters = name.replace(/[^A-Za-z0-9_]/g, '_');
	const identifier = /^[A-Za-z_]/.test(letters) ? letters : `_${letters}`;
	return keywords.has(identifier) || reservedNames.has(identifier) ? `${identifier}_` : identifier;
}

/** What two spellings of one name have in common: `listSites`, `list-sites` and `list_sites` are one. */
export const foldName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const MAX_LISTED = 50;

/** Names for a message: sorted, and not more of them than somebody reads. */
export function formatNames(names: Iterable<string>): string {
	const sorted = [...names].sort();
	if (sorted.length === 0) return 'none';
	const more = sorted.length - MAX_LISTED;
	return sorted.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` (and ${more} more)` : '');
}
