import {execFileSync} from 'node:child_process';
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {auditFolder, repositoryStateFolder, stateFolder} from '../../../lib/serve/paths.js';
import {type JsonObject, listOf, objectOf} from '../../../lib/util/json.js';
import {type Running, startReady} from '../../helpers/bridge.js';
import {type FakeKind, fakeCodex} from '../../helpers/fake-codex.js';
import {readNdjson} from '../../helpers/ndjson.js';

/** The environment of `bridge serve` in a test: a repository, a home folder and a fake Codex. */
export type Place = {
	readonly repo: string;
	readonly base: string;
	readonly env: NodeJS.ProcessEnv;
	/** Writes the `.atm.toml` of the repository. */
	configure(toml: string): void;
	git(...args: string[]): void;
	/** The sessions of the registry file. */
	registry(): JsonObject[];
	/** The folder of the registry, locks and summaries. */
	state(): string;
	/** The entries of the audit log. */
	audit(): JsonObject[];
	summaryPath(identity: string, threadId: unknown): string;
};

/** Creates a `Place` and removes it after the test. */
export async function place(t: ExecutionContext, kind: FakeKind, ...codexArgs: string[]): Promise<Place> {
	const {command} = await fakeCodex(t, kind, ...codexArgs);
	return placeFor(t, {...process.env, ATM_AGENT_MCP_CODEX_BIN: command});
}

const runGit = (cwd: string, ...args: string[]): void => {
	execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {cwd, stdio: 'ignore'});
};

let template: string | undefined;

/** A repository with one commit and a remote. Copying it is much faster than running git for each test. */
function templateRepository(): string {
	if (template !== undefined) return template;
	template = mkdtempSync(join(tmpdir(), 'bridge-serve-template-'));
	runGit(template, 'init', '-q', '-b', 'main', '--template=');
	runGit(template, 'commit', '-q', '--allow-empty', '-m', 'first');
	runGit(template, 'remote', 'add', 'origin', 'https://example.com/group/widgets.git');
	return template;
}

process.once('exit', () => {
	if (template !== undefined) rmSync(template, {recursive: true, force: true});
});

/** Creates a `Place` with the Codex that the environment names. */
export function placeFor(t: Pick<ExecutionContext, 'teardown'>, env: NodeJS.ProcessEnv): Place {
	const root = realpathSync(mkdtempSync(join(tmpdir(), 'bridge-serve-')));
	t.teardown(() => rmSync(root, {recursive: true, force: true, maxRetries: 5}));
	const [repo, base] = [join(root, 'repo'), join(root, 'home')];
	cpSync(templateRepository(), repo, {recursive: true});
	mkdirSync(base);
	const sessions = auditFolder(base);
	// Sessions belong to the team if one exists.
	const state = (): string =>
		existsSync(join(base, '.claude/teams/default'))
			? stateFolder(base, 'default')
			: repositoryStateFolder(base, 'default', repo);
	return {
		repo,
		base,
		git: (...args) => runGit(repo, ...args),
		env: {CODEX_HOME: join(base, '.codex'), ...env, ATM_HOME: base},
		configure: toml => writeFileSync(join(repo, '.atm.toml'), toml),
		registry: () =>
			listOf(JSON.parse(readFileSync(join(state(), 'registry.json'), 'utf8')).sessions).map(objectOf),
		state,
		audit: () => readNdjson(join(sessions, 'audit.jsonl')),
		summaryPath: (identity, threadId) => join(state(), identity, String(threadId), 'summary.md'),
	};
}

export type ToolResult = {
	readonly text: string;
	readonly isError: boolean;
	readonly structured: JsonObject;
	readonly error: JsonObject;
	readonly codexId: string;
};

export class ServeClient {
	readonly running: Running;
	#ids = 0;

	constructor(running: Running) {
		this.running = running;
	}

	/** Calls a tool. Returns the request id at once, for cancel(). */
	call(
		name: string,
		args: JsonObject = {},
		meta?: JsonObject,
	): {readonly id: number; readonly result: Promise<ToolResult>} {
		const id = ++this.#ids;
		const params = {name, arguments: args, ...(meta ? {_meta: meta} : {})};
		const result = this.running.request(id, 'tools/call', params).then(response => toolResult(response));
		// A cancelled call can get no response. Its rejection is not an error of the test.
		result.catch(() => {});
		return {id, result};
	}

	codex(args: JsonObject): Promise<ToolResult> {
		return this.call('codex', args).result;
	}

	reply(codexId: string, prompt: string): Promise<ToolResult> {
		return this.call('codex-reply', {codex_id: codexId, prompt}).result;
	}

	cancel(requestId: number): void {
		this.running.send({method: 'notifications/cancelled', params: {requestId}});
	}

	async threads(args: JsonObject = {}): Promise<JsonObject[]> {
		return listOf((await this.call('codex_threads', args).result).structured.threads).map(objectOf);
	}

	async status(): Promise<JsonObject> {
		return (await this.call('codex_status').result).structured;
	}

	close(codexId: string): Promise<ToolResult> {
		return this.call('codex_close', {codex_id: codexId}).result;
	}

	/** Waits until Codex has started a turn in the session of this identity. */
	async busy(identity: string): Promise<JsonObject> {
		for (;;) {
			const found = (await this.threads()).find(
				entry => entry.identity === identity && entry.status === 'active',
			);
			if (found?.state === 'busy' && found.thread_id !== null) return found;
			// Limits the load of polling.
			await sleep(10);
		}
	}
}

function toolResult(response: JsonObject): ToolResult {
	const {content, structuredContent, isError} = objectOf(response.result);
	const structured = objectOf(structuredContent);
	const text = listOf(content)
		.map(item => String(objectOf(item).text))
		.join('\n');
	const error = objectOf(structured.error ?? response.error);
	return {
		text,
		isError: isError === true || 'error' in response,
		structured,
		error,
		codexId: String(structured.codex_id),
	};
}

/** Starts and initializes `bridge serve` in a `Place`. */
export async function startServe(
	t: ExecutionContext,
	{env, repo}: Place,
	...args: string[]
): Promise<ServeClient> {
	const running = await startReady(['serve', '--trust', ...args], {env, cwd: repo});
	t.teardown(() => {
		running.child.kill('SIGKILL');
	});
	return new ServeClient(running);
}

/** The arguments that Codex received, from the result of the prompt `show:arguments`. */
export const argumentsIn = ({structured}: ToolResult): JsonObject =>
	JSON.parse(String(structured.content)) as JsonObject;

/** The pids of the child processes. */
export const childrenOf = (pid: number): number[] =>
	readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).map(Number);
