import type {ExecutionContext} from 'ava';
import type {JsonObject} from '../../lib/util/json.js';
import {CodexClient} from '../helpers/codex-client.js';
import {type CodexHome, codexes, codexHome} from './codex.js';
import {type ScriptedModel, startModel} from './scripted-model.js';

export type CodexKind = keyof typeof codexes;
export const codexKinds = Object.keys(codexes) as readonly CodexKind[];

/** Starts a scripted model, and creates a Codex home that contains only these tables. */
export async function prepareCodex(
	t: ExecutionContext,
	tables = '',
): Promise<{model: ScriptedModel; home: CodexHome}> {
	t.timeout(120_000);
	const model = await startModel(t);
	return {model, home: await codexHome(t, model, {}, tables)};
}

/** Starts a real Codex behind its backend, with an initialized client. */
export const runCodex = (
	t: ExecutionContext,
	kind: CodexKind,
	{folder, env}: CodexHome,
	capabilities: JsonObject = {},
): Promise<CodexClient> =>
	CodexClient.ready(t, {command: codexes[kind].launcher, cwd: folder, env}, capabilities);

/** Prepares the home, and starts Codex. */
export async function startCodex(t: ExecutionContext, kind: CodexKind, capabilities: JsonObject = {}) {
	const {model, home} = await prepareCodex(t);
	const client = await runCodex(t, kind, home, capabilities);
	return {client, model, home};
}
