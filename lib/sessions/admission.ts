import {randomUUID} from 'node:crypto';
import {type JsonObject, without} from '../protocol/json.js';
import type {Accepted} from './accepted-calls.js';
import type {CodexCall, ReplyCall, ResumeCall, Settings, StartCall} from './call-arguments.js';
import {
	changeable,
	checkResumable,
	checkUnchanged,
	labelsOf,
	launchAfter,
	type TurnSettings,
	turnSettings,
} from './changes.js';
import {joined} from './context.js';
import {checkedIdentity, conflictElsewhere} from './identity.js';
import {checkOne, checkSame, closed} from './named-session.js';
import type {MemoryPlace, Preparation} from './preparation.js';
import {Refusal} from './refusal.js';
import type {Session} from './session.js';
import type {Sessions} from './sessions.js';
import type {SessionEntry} from './types.js';

/** What Codex is to be asked for a call that was let in. */
export type Admitted = {
	readonly tool: 'codex' | 'codex-reply';
	readonly arguments: JsonObject;
	readonly accepted: Accepted;
};

/** A call that has its session, and will be ready to run when `ready` has been called and resolved. */
export type Admission = {
	readonly session: Session;
	readonly isNew: boolean;
	readonly ready: () => Promise<Admitted>;
};

/** The settings of a call that were validated. */
type Change = {
	/** The folder that the call names. */
	readonly folder: string | undefined;
	/** Settings that Codex has to apply to the turn. */
	readonly turnWith: TurnSettings;
	/** Applies all of them to the session, and returns a function that restores those of before. */
	readonly apply: () => () => void;
};

export type AdmissionsOptions = {
	readonly sessions: Sessions;
	readonly preparation: Preparation;
	/** The codex_id of the session that the first call without an identity, or with its own, resumes. */
	readonly resume?: string | undefined;
	/** Why there is none although one was named; the first new session's result has it. */
	readonly notice?: string | undefined;
	/** Whether Codex can change the settings of a session from turn to turn. */
	readonly canChange?: () => boolean;
};

/** Decides which session a call is for. That takes no time, so that of two calls for one identity exactly one gets it. */
export class Admissions {
	readonly #sessions: Sessions;
	readonly #preparation: Preparation;
	readonly #canChange: () => boolean;
	/** The codex_id of the session that --resume named, until a call resumes it. */
	#resume: string | undefined;
	#notice: string | undefined;

	constructor({sessions, preparation, resume, notice, canChange = () => true}: AdmissionsOptions) {
		this.#sessions = sessions;
		this.#preparation = preparation;
		this.#canChange = canChange;
		this.#resume = resume;
		this.#notice = notice;
	}

	/** Whether it is for a session that this process does not run: others may have done something to it since. */
	isOfBefore(call: CodexCall): boolean {
		if (call.kind === 'start') return call.agentFile === undefined && this.#resume !== undefined;
		const refs = call.kind === 'reply' ? [call.ref, ...call.others] : [call.ref];
		return refs.some(ref => this.#sessions.liveOne(ref) === undefined);
	}

	/** Refuses the call where it cannot be. */
	admit(call: CodexCall): Admission {
		if (call.kind === 'start') return this.#start(call);
		if (call.kind === 'reply') checkOne(this.#sessions, call);
		const live = this.#sessions.liveOne(call.ref);
		if (live) return this.#goOn(live, call);
		const entry = this.#sessions.known(call.ref);
		if (call.kind === 'reply' && entry.status === 'closed') throw closed(entry);
		if (entry.status === 'active')
			throw conflictElsewhere(entry.identity, entry.codex_id, undefined, {isResume: true});
		checkSame(call, entry);
		return this.#resumed(
			entry,
			call.kind === 'reply'
				? this.#revive(entry, call.prompt, 'prompt')
				: this.#revive(entry, call.prompt, 'prompt', call),
		);
	}

	/** Why a call would be rejected if there was a place for its session; else the error that there is none. */
	async reasonFor(call: CodexCall, error: unknown): Promise<unknown> {
		if (call.kind !== 'start' || !(error instanceof Refusal) || error.kind !== 'max_sessions') return error;
		return this.#preparation.checked(call).then(
			() => error,
			reason => reason,
		);
	}

	#start(call: StartCall): Admission {
		const {config} = this.#sessions;
		const resumed = call.agentFile === undefined ? this.#waiting() : undefined;
		const identity = checkedIdentity(call.identity ?? resumed?.identity ?? config.identity);
		if (resumed?.identity === identity && call.prompt !== undefined) {
			if (resumed.status === 'active')
				throw conflictElsewhere(identity, resumed.codex_id, undefined, {isResume: true});
			return this.#resumed(resumed, this.#revive(resumed, call.prompt, 'instructions', call));
		}
		const notice = this.#notice;
		this.#notice = undefined;
		const {tag = null, role = config.role ?? null, autoMail} = call;
		const isNamed = call.role !== undefined;
		const session = this.#sessions.begin({identity, cwd: '', tag, role, role_named: isNamed, autoMail});
		const ready = async (): Promise<Admitted> => {
			const {arguments: args, prompt} = await this.#preparation.start(session, call);
			await this.#sessions.confirm(session);
			return {tool: 'codex', arguments: args, accepted: {...accepted(session, prompt), notice}};
		};
		return {session, isNew: true, ready: () => ready().catch(error => this.#again({notice}, error))};
	}

	/** The entry of the session that --resume named, as it is now. */
	#waiting(): SessionEntry | undefined {
		if (this.#resume === undefined || this.#sessions.liveOne(this.#resume)) return;
		return this.#sessions.registry.get(this.#resume);
	}

	/** A session was resumed: if --resume named it, later calls start new ones. */
	#resumed({codex_id: codexId}: SessionEntry, admission: Admission): Admission {
		if (this.#resume !== codexId) return admission;
		this.#resume = undefined;
		const ready = () => admission.ready().catch(error => this.#again({resume: codexId}, error));
		return {...admission, ready};
	}

	/** A call was rejected: what it would have used up is there for the next one. */
	#again({resume, notice}: Pick<AdmissionsOptions, 'resume' | 'notice'>, error: unknown): never {
		this.#resume ??= resume;
		this.#notice ??= notice;
		throw error;
	}

	/** A session that is active takes the next turn. */
	#goOn(session: Session, call: ReplyCall | ResumeCall): Admission {
		checkSame(call, session.entry);
		if (session.closing !== undefined) throw closed(session.entry);
		const ready = async (): Promise<Admitted> => {
			const change = call.kind === 'resume' ? await this.#change(session, call) : undefined;
			await this.#sessions.join(session);
			const admitted = this.reply(session, call.prompt, change?.folder);
			if (!change) return admitted;
			const apply = (): (() => void) => {
				const restore = change.apply();
				if (change.folder !== undefined) this.#preparation.moved(session);
				this.#sessions.save(session, {});
				return restore;
			};
			return {...admitted, accepted: {...admitted.accepted, turnWith: change.turnWith, apply}};
		};
		return {session, isNew: false, ready};
	}

	/** Validates the settings of a call for a session: all of them apply, or the call is rejected. */
	async #change(session: Session, call: Settings, isLoading = false): Promise<Change> {
		const {role, forwarded} = call;
		const {config} = this.#sessions;
		const folder = call.cwd === undefined ? undefined : await this.#preparation.folderOf(call.cwd);
		const settings = turnSettings(config, {role, forwarded, folder});
		const canChange = this.#canChange();
		if (isLoading && canChange) checkResumable(session, forwarded);
		if (!isLoading && !canChange) checkUnchanged(session, {role, forwarded, folder});
		const apply = (): (() => void) => {
			const {launch, told, entry} = session;
			session.launch = launchAfter(launch, config, call);
			session.changed({...labelsOf(call), ...(folder === undefined ? {} : {cwd: folder})});
			return () => {
				Object.assign(session, {launch, told});
				this.#sessions.save(session, changeable(entry));
			};
		};
		return {folder, turnWith: canChange && !isLoading ? settings : {}, apply};
	}

	/** What Codex is asked for the next turn of a session that is active. `folder`: the one that the turn changes to. */
	reply(session: Session, prompt: string, folder?: string): Admitted {
		const whole = this.#preparation.reply(session, prompt, folder);
		const startAgain = async () => {
			const memory = await this.#preparation.memory(session);
			return this.#preparation.startAgain(session, prompt, memory, 'prompt');
		};
		return {
			tool: 'codex-reply',
			arguments: {prompt: whole},
			accepted: {...accepted(session, prompt), startAgain},
		};
	}

	/** A session of before: Codex may know its thread still, else a new one takes its place. */
	#revive(entry: SessionEntry, prompt: string, place: MemoryPlace, call?: Settings): Admission {
		const session = this.#sessions.revive(entry);
		const ready = async (): Promise<Admitted> => {
			const cwd = await this.#preparation
				.folderOf(entry.cwd)
				.catch(() => this.#preparation.folderOf(undefined));
			session.changed({cwd});
			// With --resume, the thread is loaded with the settings, or another one takes its place.
			const change = call && (await this.#change(session, call, place === 'instructions'));
			const restore = change?.apply();
			const turnWith = change?.turnWith;
			const memory = await this.#preparation.memory(session);
			await this.#sessions.confirm(session);
			const startAgain = () => this.#preparation.startAgain(session, prompt, memory, place);
			const base = accepted(session, prompt);
			if (entry.thread_id === null)
				return {tool: 'codex', arguments: (await startAgain()).arguments, accepted: base};
			const resumeWith = without((await startAgain()).arguments, 'prompt', 'developer-instructions');
			const whole = this.#preparation.reply(session, joined(memory, prompt) ?? prompt);
			return {
				tool: 'codex-reply',
				arguments: {prompt: whole},
				accepted: {
					...base,
					startAgain,
					resumeWith,
					turnWith,
					isResume: true,
					apply: restore && (() => restore),
				},
			};
		};
		return {session, isNew: true, ready};
	}
}

const accepted = (session: Session, prompt: string): Accepted => ({
	session,
	prompt,
	correlationId: randomUUID(),
});
