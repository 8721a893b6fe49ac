import {printable} from '../../lib/util/printable.js';

/** Formats a table for a terminal. Columns are as wide as their content and two spaces apart. */
export function textTable(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
	const cells = [head, ...rows].map(row => row.map(cell => printable(cell)));
	const widths = head.map((_, at) =>
		cells.reduce((widest, row) => Math.max(widest, width(row[at] ?? '')), 0),
	);
	const lines = cells.map(row =>
		row
			.map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - width(cell)))
			.join('  ')
			.trimEnd(),
	);
	return `${lines.join('\n')}\n`;
}

const width = (text: string): number => [...text].length;
