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

type PreparedCall = {
	readonly tool: 'codex' | 'codex-reply';
	readonly arguments: JsonObject;
	readonly acceptedCall: AcceptedCall;
};

/** A call that was assigned to a session. It can run when `prepare` has resolved. */
export type RoutedCall = {
	readonly session: CodexSession;
	readonly isNew: boolean;
	readonly prepare: () => Promise<PreparedCall>;
};

type SettingsChange = {
	readonly folder: string | undefined;
	/** Settings for Codex to apply to the turn. */
	readonly turnSettings: TurnSettings;
	/** Applies all settings to the session. Returns a function that restores the previous ones. */
	readonly apply: () => () => void;
};

type SessionRouterOptions = {
	readonly sessions: CodexSessions;
	readonly callPreparer: CallPreparer;
	/** The codex_id of the session to resume with the first call that has its identity or none. */
	readonly resume?: string | undefined;
	/** Why --resume found no session to resume. Added to the result of the first new session. */
	readonly notice?: string | undefined;
	/** Whether Codex can change the settings of a session from turn to turn. */
	readonly canChangeSettings?: () => boolean;
};

/** Assigns calls to sessions. Synchronous, so that only one of two concurrent calls gets an identity. */
export class SessionRouter {
	readonly #sessions: CodexSessions;
	readonly #callPreparer: CallPreparer;
	readonly #canChangeSettings: () => boolean;
	/** The codex_id of the session that --resume named, until a call resumes it. */
	#pendingResumeId: string | undefined;
	#pendingNotice: string | undefined;

	constructor({
		sessions,
		callPreparer,
		resume,
		notice,
		canChangeSettings = () => true,
	}: SessionRouterOptions) {
		this.#sessions = sessions;
		this.#callPreparer = callPreparer;
		this.#canChangeSettings = canChangeSettings;
		this.#pendingResumeId = resume;
		this.#pendingNotice = notice;
	}

	/** Whether a call is for a session that is not live here. Other processes may have changed its entry. */
	needsRegistryRefresh(call: CodexCall): boolean {
		if (call.kind === 'start') return call.agentFile === undefined && this.#pendingResumeId !== undefined;
		const refs = call.kind === 'reply' ? [call.ref, ...call.otherRefs] : [call.ref];
		return refs.some(ref => this.#sessions.findLive(ref) === undefined);
	}

	/** Assigns a call to a live, resumed or new session. Throws if that is impossible. */
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

	/** Returns the error to report: that of an invalid call rather than a reached session limit. */
	async rejectionReason(call: CodexCall, error: unknown): Promise<unknown> {
		if (call.kind !== 'start' || !(error instanceof ToolError) || error.kind !== 'max_sessions') return error;
		return this.#callPreparer.validateStart(call).then(
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
			const {arguments: args, prompt} = await this.#callPreparer.prepareStart(session, call);
			await this.#sessions.reserveIdentity(session);
			return {tool: 'codex', arguments: args, acceptedCall: {...acceptedCallOf(session, prompt), notice}};
		};
		return {
			session,
			isNew: true,
			prepare: () => prepare().catch(error => this.#restoreAfterRejection({notice}, error)),
		};
	}

	/** The current entry of the session to resume with --resume. */
	#resumableEntry(): SessionEntry | undefined {
		if (this.#pendingResumeId === undefined || this.#sessions.findLive(this.#pendingResumeId)) return;
		return this.#sessions.registry.get(this.#pendingResumeId);
	}

	/** Consumes --resume if a call resumes its session. Restores it if the call is rejected. */
	#consumeResume({codex_id: codexId}: SessionEntry, routed: RoutedCall): RoutedCall {
		if (this.#pendingResumeId !== codexId) return routed;
		this.#pendingResumeId = undefined;
		const prepare = () =>
			routed.prepare().catch(error => this.#restoreAfterRejection({resume: codexId}, error));
		return {...routed, prepare};
	}

	/** Restores what a rejected call has consumed, for the next call. */
	#restoreAfterRejection(
		{resume, notice}: Pick<SessionRouterOptions, 'resume' | 'notice'>,
		error: unknown,
	): never {
		this.#pendingResumeId ??= resume;
		this.#pendingNotice ??= notice;
		throw error;
	}

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
				if (change.folder !== undefined) this.#callPreparer.refreshContext(session);
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

	/** Validates the settings of a call. A call with an invalid setting is rejected as a whole. */
	async #prepareChange(
		session: CodexSession,
		call: CallSettings,
		isThreadLoading = false,
	): Promise<SettingsChange> {
		const {role, forwarded} = call;
		const {config} = this.#sessions;
		const folder = call.cwd === undefined ? undefined : await this.#callPreparer.resolveFolder(call.cwd);
		const settings = requestedTurnSettings(config, {role, forwarded, folder});
		const canChange = this.#canChangeSettings();
		if (isThreadLoading && canChange) assertNoStartOnlyArguments(session, forwarded);
		if (!isThreadLoading && !canChange) assertSettingsUnchanged(session, {role, forwarded, folder});
		const apply = (): (() => void) => {
			const {launchArguments, sentContext, entry} = session;
			session.launchArguments = mergeLaunchArguments(launchArguments, config, call);
			session.update({...labelPatch(call), ...(folder === undefined ? {} : {cwd: folder})});
			return () => {
				Object.assign(session, {launchArguments, sentContext});
				this.#sessions.save(session, changeableFields(entry));
			};
		};
		return {folder, turnSettings: canChange && !isThreadLoading ? settings : {}, apply};
	}

	/** Builds the next turn of a live session. `folder` is set if the turn changes the folder. */
	prepareReply(session: CodexSession, prompt: string, folder?: string): PreparedCall {
		const fullPrompt = this.#callPreparer.buildReplyPrompt(session, prompt, folder);
		const prepareNewThread = async () => {
			const memory = await this.#callPreparer.loadMemory(session);
			return this.#callPreparer.prepareNewThread(session, prompt, memory, 'prompt');
		};
		return {
			tool: 'codex-reply',
			arguments: {prompt: fullPrompt},
			acceptedCall: {...acceptedCallOf(session, prompt), prepareNewThread},
		};
	}

	/** Resumes an earlier session: in its thread if Codex can still load it, otherwise in a new one. */
	#routeResume(
		entry: SessionEntry,
		prompt: string,
		memoryPosition: MemoryPosition,
		call?: CallSettings,
	): RoutedCall {
		const session = this.#sessions.resume(entry);
		const prepare = async (): Promise<PreparedCall> => {
			const cwd = await this.#callPreparer
				.resolveFolder(entry.cwd)
				.catch(() => this.#callPreparer.resolveFolder(undefined));
			session.update({cwd});
			// With --resume, the settings apply when the thread is loaded or replaced, not as turn settings.
			const change = call && (await this.#prepareChange(session, call, memoryPosition === 'instructions'));
			const restore = change?.apply();
			const memory = await this.#callPreparer.loadMemory(session);
			await this.#sessions.reserveIdentity(session);
			const prepareNewThread = () =>
				this.#callPreparer.prepareNewThread(session, prompt, memory, memoryPosition);
			const base = acceptedCallOf(session, prompt);
			if (entry.thread_id === null)
				return {tool: 'codex', arguments: (await prepareNewThread()).arguments, acceptedCall: base};
			const resumeSettings = without(
				(await prepareNewThread()).arguments,
				'prompt',
				'developer-instructions',
			);
			const fullPrompt = this.#callPreparer.buildReplyPrompt(
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
					turnSettings: change?.turnSettings,
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
