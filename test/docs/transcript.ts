/** A command of a block, and what it prints. */
export type Step = {
	readonly line: number;
	readonly command: string;
	/** Undefined if the block shows no output: then the exit code must be 0. */
	readonly expected: readonly string[] | undefined;
	/**
	 * `&` at its end: it keeps running. `^C` as its last line: it runs until the output appears, and is
	 * interrupted.
	 */
	readonly mode: 'run' | 'background' | 'interrupt';
};

/** Whether the quotes and here-documents of a command are closed, and its last line does not end with a backslash or a pipe. */
export function isComplete(command: string): boolean {
	const [, word] = /<<'?(\w+)'?/.exec(command) ?? [];
	if (word !== undefined) return command.split('\n').slice(1).includes(word);
	if (/(?:\\|\||&&)\s*$/.test(command)) return false;
	const rest = command.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, '');
	return !/(?<!\w)['"]|['"]/.test(rest.replace(/(?:^|\s)#.*$/gm, ''));
}

/** Joins the lines of a command, from this one on. */
function commandAt(lines: readonly string[], at: number): string[] {
	const command: string[] = [];
	for (const line of lines.slice(at)) {
		command.push(command.length === 0 ? line.replace(/^\$ /, '') : line);
		if (isComplete(command.join('\n'))) break;
	}
	return command;
}

const modeOf = (command: string, expected: readonly string[]): Step['mode'] =>
	/(?<!&)&$/.test(command) ? 'background' : expected.at(-1) === '^C' ? 'interrupt' : 'run';

function stepOf(line: number, command: string, shown: readonly string[]): Step {
	const mode = modeOf(command, shown);
	const expected = mode === 'interrupt' ? shown.slice(0, -1) : shown;
	return {line, command, mode, expected: shown.length === 0 ? undefined : expected};
}

/** Lines with `$ ` are commands, and the lines between them their outputs. Without `$ `, all lines are commands. */
export function stepsOf({line: first, text}: {readonly line: number; readonly text: string}): Step[] {
	const lines = text.replace(/\n$/, '').split('\n');
	const hasPrompts = lines.some(line => line.startsWith('$ '));
	const isCommand = (line: string): boolean =>
		hasPrompts ? line.startsWith('$ ') : line.trim() !== '' && !line.startsWith('#');
	const steps: Step[] = [];
	for (let at = 0; at < lines.length; ) {
		if (!isCommand(lines[at] ?? '')) {
			at++;
			continue;
		}
		const command = commandAt(lines, at);
		const start = at + command.length;
		const next = lines.findIndex((line, index) => index >= start && isCommand(line));
		const end = next === -1 ? lines.length : next;
		const shown = hasPrompts ? trimEnd(lines.slice(start, end)) : [];
		steps.push(stepOf(first + 1 + at, command.join('\n'), shown));
		at = end;
	}
	return steps;
}

/** Without the empty lines at the end. */
export function trimEnd(lines: readonly string[]): string[] {
	const last = lines.findLastIndex(line => line.trim() !== '');
	return lines.slice(0, last + 1);
}
