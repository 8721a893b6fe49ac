// docs/error-codes.md: a row for each code that lib or bin uses, with the files that use it.
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {filesIn, read} from './sources.mjs';

const PAGE = 'docs/error-codes.md';
const ROW = /^\| (?<code>-3\d{4}) \|(?<cells>.*\|)[^|\n]*\|$/gm;

/** The files that contain each code. */
function uses(root) {
	const found = new Map();
	for (const file of ['lib', 'pipelines', 'bin'].flatMap(folder => filesIn(root, folder)))
		for (const code of new Set(read(root, file).match(/(?<![\w-])-3[12]\d{3}\b/g)))
			found.set(code, [...(found.get(code) ?? []), file.replace(/^lib\//, '').replace(/\.ts$/, '')]);
	return found;
}

/** The page with the files of each code. */
export function errorCodesPage(root) {
	const found = uses(root);
	const text = read(root, PAGE).replace(
		ROW,
		(_row, code, cells) =>
			`| ${code} |${cells} ${(found.get(code) ?? []).map(file => `\`${file}\``).join(', ')} |`,
	);
	return {file: PAGE, text};
}

/** Problems of the page; none for a folder without it. */
export function checkErrorCodes(root) {
	if (!existsSync(join(root, PAGE))) return [];
	const found = uses(root);
	const listed = new Set([...read(root, PAGE).matchAll(ROW)].map(({groups}) => groups.code));
	return [
		...[...found]
			.filter(([code]) => !listed.has(code))
			.map(([code, files]) => `${PAGE}: has no row for ${code}, which ${files.join(', ')} use. Add one.`),
		...[...listed]
			.filter(code => !found.has(code))
			.map(code => `${PAGE}: lists ${code}, which no file uses. Remove the row.`),
		...(errorCodesPage(root).text === read(root, PAGE)
			? []
			: [`${PAGE}: does not list the files as they are. Run npm run generate.`]),
	];
}
