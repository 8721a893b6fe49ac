/** One instruction of a Dockerfile. */
export type Instruction = {readonly keyword: string; readonly text: string};

/** A build stage. The last one is the image. */
export type BuildStage = {readonly name: string; readonly instructions: readonly Instruction[]};

/** Splits a Dockerfile into its stages. Comments are dropped, continued lines are joined. */
export function parseDockerfile(text: string): BuildStage[] {
	const stages: {name: string; instructions: Instruction[]}[] = [];
	const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\s*\\\n\s*/g, ' ');
	for (const line of lines.split('\n').filter(each => each.trim() !== '')) {
		const [, keyword = '', rest = ''] = /^\s*([A-Z]+)\s+(.*)$/i.exec(line) ?? [];
		if (keyword === '') throw new Error(`The Dockerfile has a line without an instruction: ${line}`);
		if (keyword.toUpperCase() === 'FROM')
			stages.push({name: stageName(rest, stages.length), instructions: []});
		else stages.at(-1)?.instructions.push({keyword: keyword.toUpperCase(), text: rest.trim()});
	}
	if (stages.length === 0) throw new Error('The Dockerfile has no FROM.');
	return stages;
}

const stageName = (from: string, at: number): string => /\sAS\s+(\S+)/i.exec(from)?.[1] ?? String(at);

/** The operands of a COPY. */
export type Copy = {
	/** The stage to copy from, or undefined for the build context. */
	readonly from: string | undefined;
	readonly sources: readonly string[];
	readonly target: string;
};

/** Parses the operands of a COPY. */
export function parseCopy(text: string): Copy {
	const words = text.split(/\s+/);
	const flags = words.filter(word => word.startsWith('--'));
	const paths = words.filter(word => !word.startsWith('--'));
	const target = paths.pop();
	const other = flags.find(flag => !/^--(?:from|chown|chmod|link)\b/.test(flag));
	if (target === undefined || paths.length === 0 || other !== undefined)
		throw new Error(`COPY ${text} is not supported by this script.`);
	return {
		from: flags.find(flag => flag.startsWith('--from='))?.slice('--from='.length),
		sources: paths,
		target,
	};
}
