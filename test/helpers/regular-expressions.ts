import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parse, type Token} from 'acorn';
import {transform} from 'esbuild';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

const sources = ['lib', 'bin', 'pipelines'].flatMap(folder =>
	readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'})
		.filter(name => name.endsWith('.ts') && !name.endsWith('.as.ts'))
		.map(name => `${folder}/${name}`),
);

/** The regular expressions of a TypeScript text, and whether it compiles text to expressions. */
export async function expressionsIn(typescript: string): Promise<{literals: RegExp[]; isDynamic: boolean}> {
	const {code} = await transform(typescript, {loader: 'ts', format: 'esm', target: 'esnext'});
	const literals: RegExp[] = [];
	let isDynamic = false;
	parse(code, {
		ecmaVersion: 'latest',
		sourceType: 'module',
		allowHashBang: true,
		onToken(token) {
			const {type, value} = token as Token & {readonly value?: unknown};
			const {pattern, flags} = Object(value) as {pattern?: string; flags?: string};
			if (type.label === 'regexp' && pattern !== undefined) literals.push(new RegExp(pattern, flags));
			if (type.label === 'name' && value === 'RegExp') isDynamic = true;
		},
	});
	return {literals, isDynamic};
}

export const allExpressions = (): Promise<
	ReadonlyArray<{file: string; literals: RegExp[]; isDynamic: boolean}>
> =>
	Promise.all(
		sources.map(async file => ({file, ...(await expressionsIn(readFileSync(join(root, file), 'utf8')))})),
	);
