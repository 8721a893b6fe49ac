// Exported names: one name, one concept; and nothing is exported that no other file imports.
import {exportsOf, filesIn, importsOf, placeOf, read} from './sources.mjs';

/** Names that several files export on purpose, with the reason. */
const SAME_CONCEPT = new Map([
	['command', 'the table of each file in bin/commands'],
	['wasm', 'generated code'],
]);
/** Files that are entries of their own, or part of the public API. */
const PUBLIC = 'lib/index.ts';

export function checkExports(root) {
	const product = ['lib', 'pipelines', 'bin'].flatMap(folder => filesIn(root, folder));
	const sources = product.filter(file => !/\.(?:as|d)\.ts$/.test(file));
	const declared = sources.flatMap(file => {
		const text = read(root, file);
		return exportsOf(text).map(({name, at}) => ({name, file, place: placeOf(file, text, at)}));
	});
	return [...repeated(declared), ...unused(root, sources, declared)];
}

/** Names that several files export. */
function repeated(declared) {
	const places = new Map();
	for (const {name, file, place} of declared)
		places.set(name, (places.get(name) ?? new Map()).set(file, place));
	return [...places]
		.map(([name, files]) => [name, [...files.values()]])
		.filter(([name, found]) => found.length > 1 && !SAME_CONCEPT.has(name))
		.map(
			([name, found]) =>
				`${found[0]}: exports ${name}, as ${found.slice(1).join(', ')} does. Rename all but one.`,
		);
}

/** Exports that no file of the product or of its tests imports. */
function unused(root, sources, declared) {
	const others = ['test', 'fixtures', 'bench'].flatMap(folder => filesIn(root, folder));
	const used = new Set();
	for (const file of [...sources, ...others])
		for (const {target, names} of importsOf(file, read(root, file)))
			for (const name of names) used.add(`${target} ${name}`);
	return declared
		.filter(({name, file}) => file !== PUBLIC && !used.has(`${file} ${name}`) && !used.has(`${file} *`))
		.map(({name, place}) => `${place}: exports ${name}, which no file imports. Remove the word export.`);
}
