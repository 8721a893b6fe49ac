// What the checks read: the sources of a checkout, their imports and their exports.
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

/** The files below a folder whose names end with `ending`, without installed packages. */
export function filesIn(root, folder, ending = '.ts') {
	if (!existsSync(join(root, folder))) return [];
	return readdirSync(join(root, folder), {withFileTypes: true})
		.sort((a, b) => (a.name < b.name ? -1 : 1))
		.flatMap(item => {
			const path = join(folder, item.name);
			if (item.isDirectory()) return item.name === 'node_modules' ? [] : filesIn(root, path, ending);
			return item.name.endsWith(ending) ? [path] : [];
		});
}

export const read = (root, file) => readFileSync(join(root, file), 'utf8');

/** The position of a text as `file:line`. */
export const placeOf = (file, text, at) => `${file}:${text.slice(0, at).split('\n').length}`;

const IMPORT =
	/\b(?:import|export)\s+(?:type\s+)?(?:([\w*\s{},$]+?)\s+from\s+)?'(\.{1,2}\/[^']+)'|\bimport\('(\.{1,2}\/[^']+)'\)/g;

/** The relative imports of a source: the file that each names, its position, and the imported names (`*` for all). */
export function importsOf(file, text) {
	return [...text.matchAll(IMPORT)].map(({index, 1: clause, 2: statement, 3: call}) => ({
		target: join(dirname(file), statement ?? call).replace(/\.js$/, '.ts'),
		at: index,
		names: namesIn(clause),
	}));
}

/** The names that a clause of an import or a re-export takes from its module. */
function namesIn(clause) {
	const list = /\{([^}]*)\}/.exec(clause ?? '')?.[1];
	if (list === undefined) return ['*'];
	return list.split(',').flatMap(item => /^\s*(?:type\s+)?([\w$]+)/.exec(item)?.[1] ?? []);
}

const EXPORT =
	/^export (?:declare )?(?:abstract )?(?:async )?(?:const enum|class|const|enum|function\*?|interface|let|type) ([\w$]+)/gm;

/** The names that a source declares and exports, with their positions. */
export const exportsOf = text => [...text.matchAll(EXPORT)].map(({1: name, index}) => ({name, at: index}));
