import {realpath, stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {Log} from '../../core/log.js';
import {readRegularTextFile} from '../../files/read-regular-file.js';
import type {JsonObject} from '../../util/json.js';
import type {ServeConfig} from '../config/types.js';
import type {MailServerSession} from '../mail/codex-server-entry.js';
import {
	assertNotCredentialFile,
	assertPromptFilesAllowed,
	expandHome,
	readAgentFile,
	userAgentFolders,
} from './agent-file.js';
import {buildCodexArguments, resolveRoleSettings} from './codex-arguments.js';
import type {CodexSession} from './codex-session.js';
import type {StartCall} from './parse-codex-call.js';
import {
	formatContextUpdate,
	formatSessionContext,
	joinParagraphs,
	readRepoContext,
} from './session-context.js';
import type {SessionSummaries} from './session-summaries.js';
import {formatSummary} from './summary-turn.js';
import {ToolError} from './tool-error.js';
import type {NewThread} from './turn-run.js';

type CallPreparerOptions = {
	readonly config: ServeConfig;
	readonly summaries: SessionSummaries;
	readonly log: Log;
	/** The working directory of bridge. */
	readonly cwd: string;
	/** Builds the entry of the MCP server with a session's mail tools; undefined without mail. */
	readonly mailServer?: (owner: MailServerSession) => Promise<JsonObject | undefined>;
	/** Configuration that disables MCP servers for sessions in a folder. */
	readonly disabledServers?: ((cwd: string) => Promise<JsonObject>) | undefined;
};

const MAX_PROMPT_BYTES = 2 ** 20;

/** Builds the arguments of Codex calls: reads agent and prompt files and adds the session context. */
export class CallPreparer {
	readonly #options: CallPreparerOptions;

	constructor(options: CallPreparerOptions) {
		this.#options = options;
	}

	/** Returns the folder of a session: the requested one, else the repository that bridge was started in. */
	async resolveFolder(requested: string | undefined): Promise<string> {
		const {cwd} = this.#options;
		if (requested === undefined) return readRepoContext(cwd).repo_root ?? cwd;
		const path = resolve(cwd, expandHome(requested));
		const found = await stat(path).catch(() => undefined);
		if (found?.isDirectory()) return path;
		const reason = found ? 'is not a folder' : 'does not exist';
		throw new ToolError('invalid_params', `The cwd ${path} ${reason}. Pass an existing folder.`, {
			cwd: path,
		});
	}

	/** Validates role, folder and files of a call. Returns the folder and the text of the agent file. */
	async validateStart(call: StartCall): Promise<{readonly cwd: string; readonly file: string | undefined}> {
		if (call.role !== undefined)
			resolveRoleSettings(this.#options.config, {role: call.role, role_named: true});
		const cwd = await this.resolveFolder(call.cwd);
		const roots = this.#agentFolders(cwd);
		await assertPromptFilesAllowed(call.forwarded.config, cwd, roots);
		if (call.agentFile === undefined) return {cwd, file: undefined};
		return {cwd, file: await readAgentFile(call.agentFile, {bases: [cwd, this.#options.cwd], roots})};
	}

	/** Builds the arguments of the call that starts a session. */
	async prepareStart(
		session: CodexSession,
		call: StartCall,
	): Promise<{readonly arguments: JsonObject; readonly prompt: string}> {
		const {cwd, file} = await this.validateStart(call);
		session.update({cwd});
		const isBaseInstructions = call.agentFileAs === 'base-instructions';
		const launchArguments =
			isBaseInstructions && file !== undefined
				? {'base-instructions': file, ...call.forwarded}
				: call.forwarded;
		session.launchArguments = launchArguments;
		const prompt = isBaseInstructions ? (call.prompt ?? '') : (file ?? call.prompt ?? '');
		return {arguments: await this.#buildArguments(session, prompt), prompt};
	}

	/**
	 * Returns the prompt of a reply, after a note about changes of the repository context. `folder` is set if
	 * the turn changes the folder; the session is updated only when that turn starts.
	 */
	buildReplyPrompt(session: CodexSession, prompt: string, folder?: string): string {
		if (!this.#options.config.contextOnReply) return prompt;
		const {sentContext: previous} = session;
		const current = readRepoContext(folder ?? session.entry.cwd);
		if (folder === undefined) {
			session.sentContext = current;
			session.update(current);
		}
		const note = formatContextUpdate(previous, current);
		return note === undefined ? prompt : `${note}\n\n${prompt}`;
	}

	/** Updates the repository context of a session whose folder has changed. */
	refreshContext(session: CodexSession): void {
		const current = readRepoContext(session.entry.cwd);
		session.sentContext = current;
		session.update(current);
	}

	/** Returns the latest summary of a session, formatted for a prompt, or undefined if none is saved. */
	async loadMemory({entry, codexId}: CodexSession): Promise<string | undefined> {
		const {summaries, log} = this.#options;
		for (const threadId of [entry.thread_id, ...entry.previous_thread_ids.toReversed()]) {
			if (threadId === null) continue;
			const summary = await summaries.read(entry.identity, threadId).catch(error => {
				log.warn('summary.unusable', (error as Error).message, {codex_id: codexId, thread_id: threadId});
			});
			if (summary !== undefined && summary.trim() !== '') return formatSummary(entry, summary);
		}
		const sentence = `No summary of ${entry.identity} (${codexId}) was found. The session continues without one.`;
		log.warn('resume.no_summary', sentence, {codex_id: codexId, identity: entry.identity});
		return;
	}

	/** Builds the call that replaces a thread that Codex can no longer use. */
	async prepareNewThread(
		session: CodexSession,
		prompt: string,
		memory: string | undefined,
		position: MemoryPosition,
	): Promise<NewThread> {
		const isInstructions = position === 'instructions';
		const args = isInstructions
			? await this.#buildArguments(session, prompt, memory)
			: await this.#buildArguments(session, joinParagraphs(memory, prompt) ?? '');
		return {arguments: args, context: memory === undefined ? 'none' : 'summary'};
	}

	async #buildArguments(session: CodexSession, prompt: string, memory?: string): Promise<JsonObject> {
		const {config, mailServer, disabledServers} = this.#options;
		const {cwd, identity, team} = session.entry;
		await assertPromptFilesAllowed(session.launchArguments.config, cwd, this.#agentFolders(cwd));
		const repo = readRepoContext(cwd);
		session.sentContext = repo;
		session.update(repo);
		const [basePrompt, extraInstructions] = await Promise.all([
			this.#readPromptFile(config.basePromptFile, 'base_prompt_file'),
			this.#readPromptFile(config.extraInstructionsFile, 'extra_instructions_file'),
		]);
		return buildCodexArguments({
			forwarded: session.launchArguments,
			prompt,
			cwd,
			memory,
			extraInstructions,
			basePrompt,
			settings: resolveRoleSettings(config, session.entry),
			context: formatSessionContext({...repo, identity, team, cwd}),
			mailServer: await mailServer?.(session),
			disabledServers: await disabledServers?.(cwd),
		});
	}

	/** Folders that may contain agent files: repositories, trusted folders and the user's agent folders. */
	#agentFolders(cwd: string): string[] {
		const {cwd: bridgeCwd, config} = this.#options;
		const roots = [cwd, bridgeCwd].map(folder => readRepoContext(folder).repo_root ?? folder);
		return [...new Set([...roots, ...config.trustedDirectories, ...userAgentFolders(config.claude)])];
	}

	async #readPromptFile(path: string | undefined, key: string): Promise<string | undefined> {
		if (path === undefined) return;
		assertNotCredentialFile(await realpath(path).catch(() => path), key);
		const text = await readRegularTextFile(path, MAX_PROMPT_BYTES).catch((error: Error) => {
			throw new ToolError('invalid_params', `${key} ${path} cannot be read: ${error.message}.`, {path});
		});
		if (text === undefined)
			throw new ToolError('invalid_params', `${key}: the file ${path} does not exist.`, {path});
		return text;
	}
}

/** Where the summary is inserted: before the developer instructions or before the prompt. */
export type MemoryPosition = 'instructions' | 'prompt';
