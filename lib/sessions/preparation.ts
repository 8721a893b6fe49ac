import {realpath, stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {AtmConfig} from '../atm/types.js';
import type {Log} from '../log.js';
import type {MailOwner} from '../mail/codex-server.js';
import type {JsonObject} from '../protocol/json.js';
import {readPlainText} from '../store/read-plain.js';
import {
	checkCodexConfig,
	checkNoCredentials,
	fromHome,
	ownAgentFolders,
	readAgentFile,
} from './agent-file.js';
import type {StartCall} from './call-arguments.js';
import {codexArguments, settingsOf} from './codex-arguments.js';
import {contextBlock, contextNote, joined, repoContext} from './context.js';
import type {Restart} from './job.js';
import {Refusal} from './refusal.js';
import type {Session} from './session.js';
import type {Summaries} from './summary.js';
import {remembered} from './summary-turn.js';

export type PreparationOptions = {
	readonly config: AtmConfig;
	readonly summaries: Summaries;
	readonly log: Log;
	/** The folder that bridge was started in. */
	readonly cwd: string;
	/** The MCP server that a session's mail comes from, where there is mail. */
	readonly mailServer?: (owner: MailOwner) => Promise<JsonObject | undefined>;
	/** The MCP servers that sessions in a folder must not start. */
	readonly disabledServers?: ((cwd: string) => Promise<JsonObject>) | undefined;
};

const MAX_PROMPT_BYTES = 2 ** 20;

/** Makes of what a caller wants what Codex is to be told: files are read, and where the session is is found out anew. */
export class Preparation {
	readonly #options: PreparationOptions;

	constructor(options: PreparationOptions) {
		this.#options = options;
	}

	/** The folder that a session works in: the caller's, else the repository that bridge was started in. */
	async folderOf(named: string | undefined): Promise<string> {
		const {cwd} = this.#options;
		if (named === undefined) return repoContext(cwd).repo_root ?? cwd;
		const path = resolve(cwd, fromHome(named));
		const found = await stat(path).catch(() => undefined);
		if (found?.isDirectory()) return path;
		const what = found ? 'is not a folder' : 'does not exist';
		throw new Refusal('invalid_params', `The cwd ${path} ${what}. Name a folder that exists.`, {cwd: path});
	}

	/** Finds the folder and reads the file that a call names, and rejects what cannot be. */
	async checked(call: StartCall): Promise<{readonly cwd: string; readonly file: string | undefined}> {
		if (call.role !== undefined) settingsOf(this.#options.config, {role: call.role, role_named: true});
		const cwd = await this.folderOf(call.cwd);
		const roots = this.#agentFolders(cwd);
		await checkCodexConfig(call.forwarded.config, cwd, roots);
		if (call.agentFile === undefined) return {cwd, file: undefined};
		return {cwd, file: await readAgentFile(call.agentFile, {bases: [cwd, this.#options.cwd], roots})};
	}

	/** What Codex is told to begin with. */
	async start(
		session: Session,
		call: StartCall,
	): Promise<{readonly arguments: JsonObject; readonly prompt: string}> {
		const {cwd, file} = await this.checked(call);
		session.changed({cwd});
		const isBase = call.agentFileAs === 'base-instructions';
		const launch =
			isBase && file !== undefined ? {'base-instructions': file, ...call.forwarded} : call.forwarded;
		session.launch = launch;
		const prompt = isBase ? (call.prompt ?? '') : (file ?? call.prompt ?? '');
		return {arguments: await this.#compose(session, prompt), prompt};
	}

	/**
	 * The prompt of a reply, with what is new of where the session is in front. `folder` is the one that the turn changes to;
	 * the session has it only when the turn starts.
	 */
	reply(session: Session, prompt: string, folder?: string): string {
		if (!this.#options.config.contextOnReply) return prompt;
		const {told} = session;
		const now = repoContext(folder ?? session.entry.cwd);
		if (folder === undefined) {
			session.told = now;
			session.changed(now);
		}
		const note = contextNote(told, now);
		return note === undefined ? prompt : `${note}\n\n${prompt}`;
	}

	/** Reads anew where a session is whose folder has changed. */
	moved(session: Session): void {
		const now = repoContext(session.entry.cwd);
		session.told = now;
		session.changed(now);
	}

	/** What a session is remembered by, ready to be put in front of something. */
	async memory({entry, codexId}: Session): Promise<string | undefined> {
		const {summaries, log} = this.#options;
		for (const threadId of [entry.thread_id, ...entry.previous_thread_ids.toReversed()]) {
			if (threadId === null) continue;
			const summary = await summaries.read(entry.identity, threadId).catch(error => {
				log.warn('summary.unusable', (error as Error).message, {codex_id: codexId, thread_id: threadId});
			});
			if (summary !== undefined && summary.trim() !== '') return remembered(entry, summary);
		}
		const sentence = `There is no summary of ${entry.identity} (${codexId}), so it goes on without one.`;
		log.warn('resume.no_summary', sentence, {codex_id: codexId, identity: entry.identity});
		return;
	}

	/** A new thread in the place of one that Codex does not know any more. */
	async startAgain(
		session: Session,
		prompt: string,
		memory: string | undefined,
		place: MemoryPlace,
	): Promise<Restart> {
		const isInstructions = place === 'instructions';
		const args = isInstructions
			? await this.#compose(session, prompt, memory)
			: await this.#compose(session, joined(memory, prompt) ?? '');
		return {arguments: args, context: memory === undefined ? 'none' : 'summary'};
	}

	async #compose(session: Session, prompt: string, memory?: string): Promise<JsonObject> {
		const {config, mailServer, disabledServers} = this.#options;
		const {cwd, identity, team} = session.entry;
		await checkCodexConfig(session.launch.config, cwd, this.#agentFolders(cwd));
		const repo = repoContext(cwd);
		session.told = repo;
		session.changed(repo);
		const [basePrompt, extraInstructions] = await Promise.all([
			this.#promptFile(config.basePromptFile, 'base_prompt_file'),
			this.#promptFile(config.extraInstructionsFile, 'extra_instructions_file'),
		]);
		return codexArguments({
			forwarded: session.launch,
			prompt,
			cwd,
			memory,
			extraInstructions,
			basePrompt,
			settings: settingsOf(config, session.entry),
			context: contextBlock({...repo, identity, team, cwd}),
			mailServer: await mailServer?.(session),
			disabledServers: await disabledServers?.(cwd),
		});
	}

	/** Where the files may be that a call names: its repository, bridge's, trusted folders, and folders for agents. */
	#agentFolders(cwd: string): string[] {
		const {cwd: own, config} = this.#options;
		const roots = [cwd, own].map(folder => repoContext(folder).repo_root ?? folder);
		return [...new Set([...roots, ...config.trustedDirectories, ...ownAgentFolders(config.claude)])];
	}

	async #promptFile(path: string | undefined, key: string): Promise<string | undefined> {
		if (path === undefined) return;
		checkNoCredentials(await realpath(path).catch(() => path), key);
		const text = await readPlainText(path, MAX_PROMPT_BYTES).catch((error: Error) => {
			throw new Refusal('invalid_params', `${key} ${path} cannot be read: ${error.message}.`, {path});
		});
		if (text === undefined) throw new Refusal('invalid_params', `${key}: there is no file ${path}.`, {path});
		return text;
	}
}

/** Where a summary is put: before the developer instructions, or before the prompt. */
export type MemoryPlace = 'instructions' | 'prompt';
