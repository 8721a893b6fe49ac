import {existsSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {type Block, blocksOf, placeOf} from './blocks.js';
import {configurationErrors, syntaxErrors, writeNamed} from './data.js';
import {matchesLines} from './match.js';
import {newSandbox, type Sandbox} from './sandbox.js';
import {Shell} from './shell.js';
import {type Step, stepsOf, trimEnd} from './transcript.js';

/** The results of the blocks of a page. */
export type PageReport = {
	readonly errors: string[];
	readonly run: string[];
	readonly parsed: string[];
	/** Blocks that are not run here, with the reason. */
	readonly skipped: string[];
};

type Page = {readonly file: string; readonly text: string; readonly hasPeers: boolean};

/** TypeScript blocks are type-checked together by another test. */
const isTypeScript = ({language}: Block): boolean => language === 'ts';

/** Programs that some blocks use, and that a machine may lack. */
const programs = ['curl', 'jq', 'openssl'];

const isInstalled = (program: string): boolean =>
	(process.env.PATH ?? '').split(':').some(folder => existsSync(join(folder, program)));

function reasonNotToRun(
	{reason, needsPeers, language, text, setup = ''}: Block,
	hasPeers: boolean,
): string | undefined {
	if (reason !== undefined) return reason;
	if (needsPeers && !hasPeers) return 'npm run test:peers runs it';
	const words = language === 'sh' ? `${setup}\n${text}`.split(/[^\w-]+/) : [];
	const missing = programs.filter(program => words.includes(program) && !isInstalled(program));
	return missing.length > 0 ? `this machine has no ${missing.join(', ')}` : undefined;
}

/**
 * Runs the blocks of a page in order, in their own folder. Without peers, blocks that need them are
 * skipped.
 */
export async function runPage({file, text, hasPeers}: Page): Promise<PageReport> {
	const report: PageReport = {errors: [], run: [], parsed: [], skipped: []};
	const blocks = blocksOf(file, text).filter(block => !isTypeScript(block));
	const sandbox = await newSandbox(text);
	const shell = new Shell(sandbox);
	try {
		for (const block of blocks) {
			const reason = reasonNotToRun(block, hasPeers);
			if (reason !== undefined) report.skipped.push(`${placeOf(block)}: ${reason}`);
			else await runBlock(block, {shell, sandbox, report});
			if (shell.isStuck) break;
		}
	} finally {
		await shell.close();
		rmSync(sandbox.folder, {recursive: true, force: true, maxRetries: 3});
	}
	return report;
}

type Context = {readonly shell: Shell; readonly sandbox: Sandbox; readonly report: PageReport};

async function runBlock(block: Block, context: Context): Promise<void> {
	const {shell, sandbox, report} = context;
	const fail = (problem: string): unknown => report.errors.push(`${placeOf(block)}: ${problem}`);
	if (block.setup !== undefined) {
		const {output, code} = await shell.run(sandbox.toLocal(block.setup));
		if (code !== 0) fail(`the setup of the block failed with ${code}:\n${output}`);
	}
	if (block.language === 'sh') {
		await runSteps(block, context);
		report.run.push(placeOf(block));
		return;
	}
	const errors = syntaxErrors(block);
	if (errors === undefined) {
		fail(`a block of the language "${block.language}" needs a comment <!-- not run: REASON --> before it`);
		return;
	}
	for (const error of errors) fail(error);
	writeNamed(block, sandbox);
	const complaint = await configurationErrors(block, shell, sandbox);
	if (complaint !== undefined) fail(`bridge config --check rejects it:\n${complaint}`);
	report.parsed.push(placeOf(block));
}

async function runSteps(block: Block, {shell, sandbox, report}: Context): Promise<void> {
	for (const step of stepsOf(block)) {
		const problem = await problemOf(step, shell, sandbox);
		if (problem !== undefined) report.errors.push(`${block.file}:${step.line}: ${problem}`);
		if (shell.isStuck) return;
	}
}

/** Runs one command. Returns the problem with its output, if any. */
async function problemOf(step: Step, shell: Shell, sandbox: Sandbox): Promise<string | undefined> {
	const {expected, mode} = step;
	const command = sandbox.toLocal(step.command);
	const shown = (output: string): string[] => trimEnd(sandbox.toShown(output).split('\n'));
	const isWanted = (output: string): boolean =>
		expected === undefined || matchesLines(trimEnd(expected), shown(output));
	const {output, code} =
		mode === 'run'
			? await shell.run(command)
			: await shell[mode === 'background' ? 'start' : 'interrupt'](command, isWanted);
	if (expected === undefined)
		return code === 0 ? undefined : `$ ${step.command}\nexits with ${code}:\n${shown(output).join('\n')}`;
	if (isWanted(output)) return undefined;
	return `$ ${step.command}\n--- expected\n${expected.join('\n')}\n--- actual\n${shown(output).join('\n')}\n---`;
}
