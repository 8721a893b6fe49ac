// docs/requirements.md: what each requirement demands, and the tests that show it.
// checks/requirements.txt has the demands: a line `# Title` for each group, and `ID: demand` for each requirement. A
// requirement without a test ends with ` (no test: reason)`.
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {filesIn, placeOf, read} from './sources.mjs';

const SOURCE = 'checks/requirements.txt';
const PAGE = 'docs/requirements.md';
const HEAD = `# Requirements

Find the tests that show a requirement. Titles of tests end with the ids of the requirements that they cover. This page is
generated: \`npm run generate\` writes it from \`checks/requirements.txt\` and the titles, and \`npm run lint\` fails when an id has
neither a test nor a reason.
`;
/** A title that ends with ids in brackets. */
const TITLE = /(?<ids>(?: ?\[[A-Z][\w.-]*\])+)['"`]/g;
const ID = /\[([A-Z][\w.-]*)\]/g;

/** The requirements by group. */
function requirementsIn(root) {
	const groups = [];
	for (const line of read(root, SOURCE).split('\n')) {
		const title = /^# (.+)$/.exec(line)?.[1];
		if (title !== undefined) groups.push({title, items: []});
		const item = /^(?<id>[A-Z][\w.-]*): (?<demand>.+?)(?: \(no test: (?<reason>.+)\))?$/.exec(line)?.groups;
		if (item) groups.at(-1)?.items.push(item);
	}
	return groups;
}

/** The test files of each id, with the number of titles in them, and the place of one. */
function testsOf(root) {
	const found = new Map();
	for (const file of filesIn(root, 'test').filter(name => !name.includes('node_modules'))) {
		const text = read(root, file);
		for (const {index, groups} of text.matchAll(TITLE))
			for (const [, id] of groups.ids.matchAll(ID)) {
				const files = found.get(id) ?? new Map();
				const entry = files.get(file) ?? {count: 0, place: placeOf(file, text, index)};
				entry.count++;
				found.set(id, files.set(file, entry));
			}
	}
	return found;
}

const cell = files =>
	[...files]
		.map(
			([file, {count}]) =>
				`[${file.replace(/^test\//, '').replace(/\.test\.ts$/, '')}](../${file})${count > 1 ? ` ×${count}` : ''}`,
		)
		.join(', ');

export function requirementsPage(root) {
	const tests = testsOf(root);
	const sections = requirementsIn(root).map(({title, items}) => {
		const rows = items.map(
			({id, demand, reason}) =>
				`| ${id} | ${demand} | ${tests.has(id) ? cell(tests.get(id)) : `– ${reason ?? ''}`} |`,
		);
		return `\n## ${title}\n\n| id | demand | tests |\n|---|---|---|\n${rows.join('\n')}\n`;
	});
	return {file: PAGE, text: `${HEAD}${sections.join('')}`};
}

/** Problems of the page; none for a folder without requirements. */
export function checkRequirements(root) {
	if (!existsSync(join(root, SOURCE))) return [];
	const tests = testsOf(root);
	const items = requirementsIn(root).flatMap(({items}) => items);
	const ids = new Set(items.map(({id}) => id));
	return [
		...items
			.filter(({id, reason}) => !tests.has(id) && reason === undefined)
			.map(({id}) => `${SOURCE}: no title ends with [${id}]. Add a test, or a reason: (no test: …).`),
		...[...tests]
			.filter(([id]) => !ids.has(id))
			.map(
				([id, files]) => `${[...files.values()][0].place}: [${id}] is not in ${SOURCE}. Add what it demands.`,
			),
		...(requirementsPage(root).text === read(root, PAGE)
			? []
			: [`${PAGE}: is not up to date. Run npm run generate.`]),
	];
}
