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

/** A repository, a home for what is kept, and a Codex: what `bridge serve` is started in. */
export type Place = {
	readonly repo: string;
	readonly base: string;
	readonly env: NodeJS.ProcessEnv;
	/** Writes the repository's configuration. */
	configure(toml: string): void;
	git(...args: string[]): void;
	/** What the registry has on disk. */
	registry(): JsonObject[];
	/** The folder of the registry, locks and summaries. */
	state(): string;
	/** All lines of the audit. */
	audit(): JsonObject[];
	summaryPath(identity: string, threadId: unknown): string;
};

/** Makes such a place; it goes with the test. */
export async function place(t: ExecutionContext, kind: FakeKind, ...codexArgs: string[]): Promise<Place> {
	const {command} = await fakeCodex(t, kind, ...codexArgs);
	return placeFor(t, {...process.env, ATM_AGENT_MCP_CODEX_BIN: command});
}

const runGit = (cwd: string, ...args: string[]): void => {
	execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {cwd, stdio: 'ignore'});
};

let pattern: string | undefined;

/** A repository with one commit and a remote. To copy it takes a fraction of what git takes to make one. */
function patternRepository(): string {
	if (pattern !== undefined) return pattern;
	pattern = mkdtempSync(join(tmpdir(), 'bridge-serve-pattern-'));
	runGit(pattern, 'init', '-q', '-b', 'main', '--template=');
	runGit(pattern, 'commit', '-q', '--allow-empty', '-m', 'first');
	runGit(pattern, 'remote', 'add', 'origin', 'https://example.com/group/widgets.git');
	return pattern;
}

process.once('exit', () => {
	if (pattern !== undefined) rmSync(pattern, {recursive: true, force: true});
});

/** The same for a Codex that such an environment names. */
export function placeFor(t: Pick<ExecutionContext, 'teardown'>, env: NodeJS.ProcessEnv): Place {
	const root = realpathSync(mkdtempSync(join(tmpdir(), 'bridge-serve-')));
	t.teardown(() => rmSync(root, {recursive: true, force: true, maxRetries: 5}));
	const [repo, base] = [join(root, 'repo'), join(root, 'home')];
	cpSync(patternRepository(), repo, {recursive: true});
	mkdirSync(base);
	const sessions = auditFolder(base);
	// Sessions belong to the team where there is one.
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

/** What a tool gave back. */
export type ToolResult = {
	readonly text: string;
	readonly isError: boolean;
	readonly structured: JsonObject;
	readonly error: JsonObject;
	readonly codexId: string;
};

/** A client of a running `bridge serve`. */
export class ServeClient {
	readonly running: Running;
	#ids = 0;

	constructor(running: Running) {
		this.running = running;
	}

	/** Calls a tool. The id of the request is there at once. */
	call(
		name: string,
		args: JsonObject = {},
		meta?: JsonObject,
	): {readonly id: number; readonly result: Promise<ToolResult>} {
		const id = ++this.#ids;
		const params = {name, arguments: args, ...(meta ? {_meta: meta} : {})};
		const result = this.running.request(id, 'tools/call', params).then(answer => read(answer));
		// A call that was cancelled may stay without an answer.
		result.catch(() => {});
		return {id, result};
	}

	/** Starts a session. */
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

	/** Waits until a session of this identity runs a turn that Codex has begun. */
	async busy(identity: string): Promise<JsonObject> {
		for (;;) {
			const found = (await this.threads()).find(
				entry => entry.identity === identity && entry.status === 'active',
			);
			if (found?.state === 'busy' && found.thread_id !== null) return found;
			// To ask all the time would take the time of those who are asked.
			await sleep(10);
		}
	}
}

function read(answer: JsonObject): ToolResult {
	const {content, structuredContent, isError} = objectOf(answer.result);
	const structured = objectOf(structuredContent);
	const text = listOf(content)
		.map(item => String(objectOf(item).text))
		.join('\n');
	const error = objectOf(structured.error ?? answer.error);
	return {
		text,
		isError: isError === true || 'error' in answer,
		structured,
		error,
		codexId: String(structured.codex_id),
	};
}

/** Starts `bridge serve` there, and shakes hands with it. */
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

/** What the first thread was started with, as a session tells it that is asked to `show:arguments`. */
export const argumentsIn = ({structured}: ToolResult): JsonObject =>
	JSON.parse(String(structured.content)) as JsonObject;

/** The processes that this one has started. */
export const childrenOf = (pid: number): number[] =>
	readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).map(Number);
