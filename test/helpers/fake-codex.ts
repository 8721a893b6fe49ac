import {chmod, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import type {ExecutionContext} from 'ava';
import type {CodexOptions} from '../../lib/serve/codex/codex-backend.js';
import type {JsonObject} from '../../lib/util/json.js';
import {CodexClient} from './codex-client.js';

export const fakeKinds = ['app-server', 'mcp-server'] as const;
export type FakeKind = (typeof fakeKinds)[number];

/** The path of a fake Codex program, and the home in which it stores its threads. */
export type FakeCodex = {readonly command: string; readonly home: string};

/**
 * Creates an executable of a fake Codex, and removes it after the test. `args` follow its other arguments.
 */
export async function fakeCodex(
	t: Pick<ExecutionContext, 'teardown'>,
	kind: FakeKind,
	...args: string[]
): Promise<FakeCodex> {
	const home = await mkdtemp(join(tmpdir(), 'bridge-fake-codex-'));
	t.teardown(() => rm(home, {recursive: true, force: true}));
	const command = join(home, 'codex');
	const program = new URL(`../../fixtures/codex/fake-${kind}.js`, import.meta.url).href;
	const lines = [
		`#!${process.execPath}`,
		`process.env.CODEX_HOME ??= ${JSON.stringify(home)};`,
		`process.argv.push(...${JSON.stringify(args)});`,
		`import(${JSON.stringify(program)});`,
	];
	await writeFile(command, lines.join('\n'));
	await chmod(command, 0o755);
	return {command, home};
}

/** A client of a fake Codex after the handshake. */
export async function startFake(
	t: ExecutionContext,
	kind: FakeKind,
	capabilities: JsonObject = {},
	options: Partial<CodexOptions> = {},
): Promise<CodexClient> {
	const {command, home} = await fakeCodex(t, kind);
	return CodexClient.ready(t, {command, env: {CODEX_HOME: home}, ...options}, capabilities);
}
