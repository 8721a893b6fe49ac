import process from 'node:process';

/** What a step of a check does. Its result is shown on the line of the step. */
export type Step = () => Promise<string | undefined> | string | undefined;

/** Throws an error with this message unless the condition holds. */
export function expect(condition: unknown, message: string): asserts condition {
	if (!condition) throw new Error(message);
}

/** Runs a step and prints one line for it. Returns whether it succeeded. */
export async function runStep(name: string, step: Step): Promise<boolean> {
	const start = Date.now();
	const seconds = (): string => ((Date.now() - start) / 1000).toFixed(1);
	try {
		const detail = await step();
		process.stdout.write(`ok    ${name}${detail === undefined ? '' : `: ${detail}`} (${seconds()} s)\n`);
		return true;
	} catch (error) {
		process.stdout.write(`FAIL  ${name}: ${(error as Error).message} (${seconds()} s)\n`);
		return false;
	}
}

/** Runs steps in order, up to the first that fails. Returns whether all succeeded. */
export async function runSteps(steps: ReadonlyArray<readonly [name: string, step: Step]>): Promise<boolean> {
	for (const [name, step] of steps) if (!(await runStep(name, step))) return false;
	return true;
}
