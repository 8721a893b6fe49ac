import {randomUUID} from 'node:crypto';
import {type JsonObject, without} from '../protocol/json.js';
import type {Accepted} from './accepted-calls.js';
import type {CodexCall, ReplyCall, ResumeCall, StartCall} from './call-arguments.js';
import {joined} from './context.js';
import {checkedIdentity, conflictElsewhere} from './identity.js';
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

export type AdmissionsOptions = {
	readonly sessions: Sessions;
	readonly preparation: Preparation;
	/** The session that the first call of its identity goes on with. */
	readonly resume?: SessionEntry | undefined;
};

/** Decides which session a call is for. That takes no time, so that of two calls for one identity exactly one gets it. */
export class Admissions {
	readonly #sessions: Sessions;
	readonly #preparation: Preparation;
	#resume: SessionEntry | undefined;

	constructor({sessions, preparation, resume}: AdmissionsOptions) {
		this.#sessions = sessions;
		this.#preparation = preparation;
		this.#resume = resume;
	}

	/** Whether it is for a session that this process does not run: others may have done something to it since. */
	isOfBefore(call: CodexCall): boolean {
		return call.kind !== 'start' && this.#sessions.liveOne(call.ref) === undefined;
	}

	/** Refuses the call where it cannot be. */
	admit(call: CodexCall): Admission {
		if (call.kind === 'start') return this.#start(call);
		const live = this.#sessions.liveOne(call.ref);
		if (live) return this.#goOn(live, call);
		const entry = this.#sessions.known(call.ref);
		if (call.kind === 'reply' && entry.status === 'closed') throw closed(entry);
		if (entry.status === 'active') throw conflictElsewhere(entry.identity, entry.codex_id);
		checkSame(call, entry);
		return this.#revive(entry, call.prompt, 'prompt', call.kind === 'resume' ? call : undefined);
	}

	#start(call: StartCall): Admission {
		const {config} = this.#sessions;
		const identity = checkedIdentity(call.identity ?? config.identity);
		const resumed = this.#resume;
		if (resumed?.identity === identity && call.agentFile === undefined && call.prompt !== undefined) {
			const admission = this.#revive(resumed, call.prompt, 'instructions');
			this.#resume = undefined;
			admission.session.launch = call.forwarded;
			return admission;
		}
		const {tag = null, role = config.role ?? null, autoMail} = call;
		const isNamed = call.role !== undefined;
		const session = this.#sessions.begin({identity, cwd: '', tag, role, role_named: isNamed, autoMail});
		const ready = async (): Promise<Admitted> => {
			const {arguments: args, prompt} = await this.#preparation.start(session, call);
			await this.#sessions.confirm(session);
			return {tool: 'codex', arguments: args, accepted: accepted(session, prompt)};
		};
		return {session, isNew: true, ready};
	}

	/** A session that is active takes the next turn. */
	#goOn(session: Session, call: ReplyCall | ResumeCall): Admission {
		checkSame(call, session.entry);
		if (session.closing !== undefined) throw closed(session.entry);
		const ready = async (): Promise<Admitted> => {
			await this.#sessions.join(session);
			return this.reply(session, call.prompt);
		};
		return {session, isNew: false, ready};
	}

	/** What Codex is asked for the next turn of a session that is active. */
	reply(session: Session, prompt: string): Admitted {
		const whole = this.#preparation.reply(session, prompt);
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
	#revive(entry: SessionEntry, prompt: string, place: MemoryPlace, labels?: ResumeCall): Admission {
		const session = this.#sessions.revive({
			...entry,
			tag: labels?.tag ?? entry.tag,
			...(labels?.autoMail === undefined ? {} : {auto_mail: labels.autoMail}),
		});
		const ready = async (): Promise<Admitted> => {
			const cwd = await this.#preparation
				.folderOf(entry.cwd)
				.catch(() => this.#preparation.folderOf(undefined));
			session.changed({cwd});
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
				accepted: {...base, startAgain, resumeWith, isResume: true},
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

/** Who names an identity means a session that has it. */
function checkSame(call: ReplyCall | ResumeCall, entry: SessionEntry): void {
	if (call.kind !== 'resume' || call.identity === undefined || call.identity === entry.identity) return;
	throw new Refusal(
		'invalid_params',
		`The session ${entry.codex_id} has the identity ${entry.identity}, not ${call.identity.slice(0, 100)}. Leave identity out to go on with it.`,
		{codex_id: entry.codex_id, identity: entry.identity},
	);
}

const closed = ({codex_id: codexId, identity}: SessionEntry): Refusal =>
	new Refusal(
		'session_closed',
		`The session ${codexId} (${identity}) is closed. Resume it with codex and codex_id ${codexId}, or begin a new one with identity ${identity}.`,
		{codex_id: codexId, identity},
	);
