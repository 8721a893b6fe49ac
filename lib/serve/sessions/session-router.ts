import {randomUUID} from 'node:crypto';
import {type JsonObject, without} from '../../util/json.js';
import type {AcceptedCall} from './accepted-calls.js';
import type {CallPreparer, MemoryPosition} from './call-preparer.js';
import {assertIdentityMatches, assertSameSession, sessionClosedError} from './check-session-refs.js';
import type {CodexSession} from './codex-session.js';
import type {CodexSessions} from './codex-sessions.js';
import {parseIdentity, remoteIdentityConflict} from './identity.js';
import type {CallSettings, CodexCall, ReplyCall, ResumeCall, StartCall} from './parse-codex-call.js';
import {joinParagraphs} from './session-context.js';
import {
	assertNoStartOnlyArguments,
	assertSettingsUnchanged,
	changeableFields,
	labelPatch,
	mergeLaunchArguments,
	requestedTurnSettings,
	type TurnSettings,
} from './session-settings.js';
import {ToolError} from './tool-error.js';
import type {SessionEntry} from './types.js';

/** What Codex is to be asked for a call that was let in. */
type PreparedCall = {
	readonly tool: 'codex' | 'codex-reply';
	readonly arguments: JsonObject;
	readonly acceptedCall: AcceptedCall;
};

/** A call that has its session, and will be ready to run when `ready` has been called and resolved. */
export type RoutedCall = {
	readonly session: CodexSession;
	readonly isNew: boolean;
	readonly prepare: () => Promise<PreparedCall>;
};

/** The settings of a call that were validated. */
type SettingsChange = {
	/** The folder that the call names. */
	readonly folder: string | undefined;
	/** Settings that Codex has to apply to the turn. */
	readonly turnSettings: TurnSettings;
	/** Applies all of them to the session, and returns a function that restores those of before. */
	readonly apply: () => () => void;
};

type SessionRouterOptions = {
	readonly sessions: CodexSessions;
	readonly preparation: CallPreparer;
	/** The codex_id of the session that the first call without an identity, or with its own, resumes. */
	readonly resume?: string | undefined;
	/** Why there is none although one was named; the first new session's result has it. */
	readonly notice?: string | undefined;
	/** Whether Codex can change the settings of a session from turn to turn. */
	readonly canChangeSettings?: () => boolean;
};

/** Decides which session a call is for. That takes no time, so that of two calls for one identity exactly one gets it. */
export class SessionRouter {
	readonly #sessions: CodexSessions;
	readonly #preparation: CallPreparer;
	readonly #canChangeSettings: () => boolean;
	/** The codex_id of the session that --resume named, until a call resumes it. */
	#pendingResumeId: string | undefined;
	#pendingNotice: string | undefined;

	constructor({
		sessions,
		preparation,
		resume,
		notice,
		canChangeSettings: canChange = () => true,
	}: SessionRouterOptions) {
		this.#sessions = sessions;
		this.#preparation = preparation;
		this.#canChangeSettings = canChange;
		this.#pendingResumeId = resume;
		this.#pendingNotice = notice;
	}

	/** Whether it is for a session that this process does not run: others may have done something to it since. */
	needsRegistryRefresh(call: CodexCall): boolean {
		if (call.kind === 'start') return call.agentFile === undefined && this.#pendingResumeId !== undefined;
		const refs = call.kind === 'reply' ? [call.ref, ...call.otherRefs] : [call.ref];
		return refs.some(ref => this.#sessions.findLive(ref) === undefined);
	}

	/** Refuses the call where it cannot be. */
	route(call: CodexCall): RoutedCall {
		if (call.kind === 'start') return this.#routeStart(call);
		if (call.kind === 'reply') assertSameSession(this.#sessions, call);
		const live = this.#sessions.findLive(call.ref);
		if (live) return this.#routeToLive(live, call);
		const entry = this.#sessions.requireEntry(call.ref);
		if (call.kind === 'reply' && entry.status === 'closed') throw sessionClosedError(entry);
		if (entry.status === 'active')
			throw remoteIdentityConflict(entry.identity, entry.codex_id, undefined, {isResume: true});
		assertIdentityMatches(call, entry);
		return this.#consumeResume(
			entry,
			call.kind === 'reply'
				? this.#routeResume(entry, call.prompt, 'prompt')
				: this.#routeResume(entry, call.prompt, 'prompt', call),
		);
	}

	/** Why a call would be rejected if there was a place for its session; else the error that there is none. */
	async rejectionReason(call: CodexCall, error: unknown): Promise<unknown> {
		if (call.kind !== 'start' || !(error instanceof ToolError) || error.kind !== 'max_sessions') return error;
		return this.#preparation.validateStart(call).then(
			() => error,
			reason => reason,
		);
	}

	#routeStart(call: StartCall): RoutedCall {
		const {config} = this.#sessions;
		const resumable = call.agentFile === undefined ? this.#resumableEntry() : undefined;
		const identity = parseIdentity(call.identity ?? resumable?.identity ?? config.identity);
		if (resumable?.identity === identity && call.prompt !== undefined) {
			if (resumable.status === 'active')
				throw remoteIdentityConflict(identity, resumable.codex_id, undefined, {isResume: true});
			return this.#consumeResume(resumable, this.#routeResume(resumable, call.prompt, 'instructions', call));
		}
		const notice = this.#pendingNotice;
		this.#pendingNotice = undefined;
		const {tag = null, role = config.role ?? null, autoMail} = call;
		const isNamed = call.role !== undefined;
		const session = this.#sessions.create({identity, cwd: '', tag, role, role_named: isNamed, autoMail});
		const prepare = async (): Promise<PreparedCall> => {
			const {arguments: args, prompt} = await this.#preparation.prepareStart(session, call);
			await this.#sessions.reserveIdentity(session);
			return {tool: 'codex', arguments: args, acceptedCall: {...acceptedCallOf(session, prompt), notice}};
		};
		return {
			session,
			isNew: true,
			prepare: () => prepare().catch(error => this.#restoreAfterRejection({notice}, error)),
		};
	}

	/** The entry of the session that --resume named, as it is now. */
	#resumableEntry(): SessionEntry | undefined {
		if (this.#pendingResumeId === undefined || this.#sessions.findLive(this.#pendingResumeId)) return;
		return this.#sessions.registry.get(this.#pendingResumeId);
	}

	/** A session was resumed: if --resume named it, later calls start new ones. */
	#consumeResume({codex_id: codexId}: SessionEntry, routed: RoutedCall): RoutedCall {
		if (this.#pendingResumeId !== codexId) return routed;
		this.#pendingResumeId = undefined;
		const prepare = () =>
			routed.prepare().catch(error => this.#restoreAfterRejection({resume: codexId}, error));
		return {...routed, prepare};
	}

	/** A call was rejected: what it would have used up is there for the next one. */
	#restoreAfterRejection(
		{resume, notice}: Pick<SessionRouterOptions, 'resume' | 'notice'>,
		error: unknown,
	): never {
		this.#pendingResumeId ??= resume;
		this.#pendingNotice ??= notice;
		throw error;
	}

	/** A session that is active takes the next turn. */
	#routeToLive(session: CodexSession, call: ReplyCall | ResumeCall): RoutedCall {
		assertIdentityMatches(call, session.entry);
		if (session.closing !== undefined) throw sessionClosedError(session.entry);
		const prepare = async (): Promise<PreparedCall> => {
			const change = call.kind === 'resume' ? await this.#prepareChange(session, call) : undefined;
			await this.#sessions.joinRoster(session);
			const prepared = this.prepareReply(session, call.prompt, change?.folder);
			if (!change) return prepared;
			const apply = (): (() => void) => {
				const restore = change.apply();
				if (change.folder !== undefined) this.#preparation.refreshContext(session);
				this.#sessions.save(session, {});
				return restore;
			};
			return {
				...prepared,
				acceptedCall: {...prepared.acceptedCall, turnSettings: change.turnSettings, applySettings: apply},
			};
		};
		return {session, isNew: false, prepare};
	}

	/** Validates the settings of a call for a session: all of them apply, or the call is rejected. */
	async #prepareChange(
		session: CodexSession,
		call: CallSettings,
		isThreadLoading = false,
	): Promise<SettingsChange> {
		const {role, forwarded} = call;
		const {config} = this.#sessions;
		const folder = call.cwd === undefined ? undefined : await this.#preparation.resolveFolder(call.cwd);
		const settings = requestedTurnSettings(config, {role, forwarded, folder});
		const canChange = this.#canChangeSettings();
		if (isThreadLoading && canChange) assertNoStartOnlyArguments(session, forwarded);
		if (!isThreadLoading && !canChange) assertSettingsUnchanged(session, {role, forwarded, folder});
		const apply = (): (() => void) => {
			const {launchArguments, sentContext, entry} = session;
			session.launchArguments = mergeLaunchArguments(launchArguments, config, call);
			session.update({...labelPatch(call), ...(folder === undefined ? {} : {cwd: folder})});
			return () => {
				Object.assign(session, {launch: launchArguments, told: sentContext});
				this.#sessions.save(session, changeableFields(entry));
			};
		};
		return {folder, turnSettings: canChange && !isThreadLoading ? settings : {}, apply};
	}

	/** What Codex is asked for the next turn of a session that is active. `folder`: the one that the turn changes to. */
	prepareReply(session: CodexSession, prompt: string, folder?: string): PreparedCall {
		const fullPrompt = this.#preparation.buildReplyPrompt(session, prompt, folder);
		const prepareNewThread = async () => {
			const memory = await this.#preparation.loadMemory(session);
			return this.#preparation.prepareNewThread(session, prompt, memory, 'prompt');
		};
		return {
			tool: 'codex-reply',
			arguments: {prompt: fullPrompt},
			acceptedCall: {...acceptedCallOf(session, prompt), prepareNewThread},
		};
	}

	/** A session of before: Codex may know its thread still, else a new one takes its place. */
	#routeResume(
		entry: SessionEntry,
		prompt: string,
		memoryPosition: MemoryPosition,
		call?: CallSettings,
	): RoutedCall {
		const session = this.#sessions.resume(entry);
		const prepare = async (): Promise<PreparedCall> => {
			const cwd = await this.#preparation
				.resolveFolder(entry.cwd)
				.catch(() => this.#preparation.resolveFolder(undefined));
			session.update({cwd});
			// With --resume, the thread is loaded with the settings, or another one takes its place.
			const change = call && (await this.#prepareChange(session, call, memoryPosition === 'instructions'));
			const restore = change?.apply();
			const settings = change?.turnSettings;
			const memory = await this.#preparation.loadMemory(session);
			await this.#sessions.reserveIdentity(session);
			const prepareNewThread = () =>
				this.#preparation.prepareNewThread(session, prompt, memory, memoryPosition);
			const base = acceptedCallOf(session, prompt);
			if (entry.thread_id === null)
				return {tool: 'codex', arguments: (await prepareNewThread()).arguments, acceptedCall: base};
			const resumeSettings = without(
				(await prepareNewThread()).arguments,
				'prompt',
				'developer-instructions',
			);
			const fullPrompt = this.#preparation.buildReplyPrompt(
				session,
				joinParagraphs(memory, prompt) ?? prompt,
			);
			return {
				tool: 'codex-reply',
				arguments: {prompt: fullPrompt},
				acceptedCall: {
					...base,
					prepareNewThread,
					resumeSettings,
					turnSettings: settings,
					isResume: true,
					applySettings: restore && (() => restore),
				},
			};
		};
		return {session, isNew: true, prepare};
	}
}

const acceptedCallOf = (session: CodexSession, prompt: string): AcceptedCall => ({
	session,
	prompt,
	correlationId: randomUUID(),
});
