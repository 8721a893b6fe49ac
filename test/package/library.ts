import {cpSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {execute, manifest, root} from './execute.js';
import {expect} from './report.js';

const PAGE = join('docs', 'write-a-stage.md');
/** The stage of the page that rejects calls of one tool. */
const STAGE = 'forbidTool';

/** Compiles the stages of the documentation against the installed package, and runs one. */
export async function checkLibrary(folder: string): Promise<string> {
	const sources = join(folder, 'src');
	mkdirSync(sources, {recursive: true});
	const stages = stagesIn(readFileSync(join(root, PAGE), 'utf8'));
	expect(stages.length > 0, `${PAGE} has no stage that imports from '${manifest.name}'.`);
	for (const [at, stage] of stages.entries()) writeFileSync(join(sources, `stage-${at + 1}.ts`), stage);
	const names = stages.map(stage => /export (?:const|function) (\w+)/.exec(stage)?.[1]);
	expect(names.includes(STAGE), `${PAGE} has no stage ${STAGE}, which this check runs: ${names.join(', ')}.`);
	writeFileSync(join(sources, 'main.ts'), program(names.indexOf(STAGE) + 1));
	addNodeTypes(folder);
	const tsc = join(root, 'node_modules', '.bin', 'tsc');
	for (const [module, resolution] of [
		['nodenext', 'nodenext'],
		['esnext', 'bundler'],
	] as const) {
		const config = join(folder, `tsconfig.${resolution}.json`);
		writeFileSync(config, JSON.stringify(compilerConfig(module, resolution)));
		await execute(process.execPath, [tsc, '-p', config], {cwd: folder});
		const output = await execute(process.execPath, [join(folder, `out-${resolution}`, 'main.js')], {
			cwd: folder,
		});
		expect(output.trim() === 'forwarded 1, rejected 1', `The stage printed ${output.trim()}.`);
	}
	return `${names.join(', ')} compile with nodenext and bundler, and run`;
}

/** The TypeScript blocks of a page that import from the package. */
const stagesIn = (page: string): string[] =>
	[...page.matchAll(/^```ts\n(.*?)^```$/gms)]
		.map(([, code = '']) => code)
		.filter(code => code.includes(`from '${manifest.name}'`) && /^export /m.test(code));

/** The types of Node, which consumers of a library for Node have. */
function addNodeTypes(folder: string): void {
	for (const name of ['@types/node', 'undici-types'])
		cpSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), {recursive: true});
}

const compilerConfig = (module: string, moduleResolution: string): object => ({
	compilerOptions: {
		target: 'es2023',
		lib: ['es2023'],
		types: ['node'],
		rootDir: 'src',
		outDir: `out-${moduleResolution}`,
		module,
		moduleResolution,
		strict: true,
		skipLibCheck: false,
		exactOptionalPropertyTypes: true,
	},
	include: ['src'],
});

/** A pipeline with the stage of the page, and with a stage of RxJS operators that the package does not bundle. */
const program = (position: number): string => `
import {connect, memoryEndpoint, type Stage} from '${manifest.name}';
import {filter} from 'rxjs';
import {${STAGE}} from './stage-${position}.js';

const onlyRequests: Stage = {toUpstream: filter(envelope => envelope.head.method !== undefined)};
const [client, upstream] = [memoryEndpoint('client'), memoryEndpoint('upstream')];
connect(client, [${STAGE}('rm'), onlyRequests], upstream);
client.send({id: 1, method: 'tools/call', params: {name: 'rm'}});
client.send({id: 2, method: 'tools/call', params: {name: 'ls'}});
const rejected = client.received.filter(body => 'error' in body && body.id === 1);
console.log(\`forwarded \${upstream.received.length}, rejected \${rejected.length}\`);
`;
