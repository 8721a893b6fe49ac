import {auditFolder, stateFolder} from '../atm/paths.js';
import type {AtmConfig} from '../atm/types.js';
import type {BridgeError} from '../errors.js';
import type {Log} from '../log.js';
import {callerAmong} from '../mail/callers.js';
import {type MailOwner, mailServerFor} from '../mail/codex-server.js';
import type {Mail} from '../mail/mail.js';
import {mailOf} from '../mail/mail.js';
import {PostOffice} from '../mail/post-office.js';
import {Registration} from '../mail/registration.js';
import {mailTools} from '../mail/tools.js';
import {pause} from '../pause.js';
import {printable, shortened} from '../printable.js';
import type {JsonObject} from '../protocol/json.js';
import type {AcceptedCalls} from './accepted-calls.js';
import {Admissions} from './admission.js';
import {Audit} from './audit-file.js';
import {Death} from './death.js';
import {Journal} from './journal.js';
import {type ChildState, managementTools} from './management.js';
import {type MoveOptions, moveSessions} from './move-sessions.js';
import {OwnTools} from './own-tool.js';
import {Preparation} from './preparation.js';
import {Refusal} from './refusal.js';
import {Registry} from './registry.js';
import {Sessions} from './sessions.js';
import {stateFor} from './state-folder.js';
import {Summaries} from './summary.js';
import {codexTools, ownTools} from './tool-schemas.js';
import {TurnRunner} from './turn-runner.js';

export type DeskOptions = {
	readonly config: AtmConfig;
	readonly log: Log;
	readonly cwd: string;
	readonly timeoutMs: number;
	/** The session to go on with: its id, or an empty text for the last one of the identity. */
	readonly resume: string | undefined;
	/** The MCP server that a session's mail comes from. */
	readonly mailServer?: (owner: MailOwner) => JsonObject;
	/** The MCP servers that sessions in a folder must not start. */
	readonly disabledServers?: (cwd: string) => Promise<JsonObject>;
};

/** All sessions are to end within this. */
const BUDGET_MS = 10_000;

/** All that there is to many sessions through one Codex, put together. */
export class Desk {
	readonly sessions: Sessions;
	readonly runner: TurnRunner;
	readonly calls: AcceptedCalls = new Map();
	readonly journal: Journal;
	readonly admissions: Admissions;
	readonly tools: OwnTools;
	readonly mail: Mail;
	readonly office: PostOffice;
	readonly #audit: Audit;
	readonly #registry: Registry;
	#child: ChildState = {isAlive: false, backend: 'none'};
	#ending: Promise<void> | undefined;

	private constructor(options: DeskOptions, registry: Registry, audit: Audit, roster: Registration) {
		const {config, log, cwd, timeoutMs, resume} = options;
		const summaries = new Summaries(registry.folder);
		this.#registry = registry;
		this.#audit = audit;
		this.sessions = new Sessions({config, registry, log, roster});
		this.journal = new Journal(audit, config.team, log);
		this.runner = new TurnRunner({sessions: this.sessions, summaries, log, timeoutMs, journal: this.journal});
		const mailServer = options.mailServer && mailServerFor(config, options.mailServer);
		const {disabledServers} = options;
		const preparation = new Preparation({
			config,
			summaries,
			log,
			cwd,
			disabledServers,
			...(mailServer ? {mailServer} : {}),
		});
		this.admissions = new Admissions({
			sessions: this.sessions,
			preparation,
			...(resume === undefined ? {} : resumed(registry, config, resume, log)),
			canChange: () => this.#child.backend === 'app-server',
		});
		const {sessions, runner, journal, admissions} = this;
		const mail = mailOf(config);
		this.mail = mail;
		this.office = new PostOffice({
			sessions,
			runner,
			journal,
			log,
			admissions,
			mail,
			isEnding: () => this.#ending !== undefined,
		});
		this.tools = new OwnTools({
			tools: [
				...managementTools({sessions, runner, journal, office: this.office, child: () => this.#child}),
				...mailTools({mail, journal, callerOf: callerAmong(sessions)}),
			],
			journal,
			log,
			schemas: ownTools,
			forwarded: codexTools,
		});
	}

	static async open(options: DeskOptions): Promise<Desk> {
		const {config, log, cwd} = options;
		const {base, team, persistThreads: isPersistent, auditFsync} = config;
		const {folder, root} = await stateFor(config, cwd);
		if (root !== undefined && isPersistent)
			await adopt({from: stateFolder(base, team), to: folder, root, log});
		const registry = await Registry.open({folder, team, log, isPersistent});
		const roster = new Registration({claude: config.claude, team, log});
		await roster.sweep();
		const audit = await Audit.open({folder: auditFolder(base), log, fsync: auditFsync});
		return new Desk(options, registry, audit, roster);
	}

	/** Why no call is taken at present, if that is so. */
	readonly refusal = (): Refusal | undefined => {
		const {death} = this.runner;
		// The first caller that gets it has seen the stderr of Codex.
		if (death instanceof Death) this.runner.death = death.known;
		if (death || this.#ending === undefined) return death;
		return new Refusal('session_closed', 'bridge serve is about to end and takes no more calls.');
	};

	/** This Codex runs. */
	started(backend: string): void {
		this.#child = {isAlive: true, backend};
	}

	/** Codex has ended. `stderr` is what it wrote shortly before. */
	gone(error: BridgeError, stderr: string): void {
		const {exitCode, signal} = error.details;
		const facts = {exit_code: (exitCode ?? null) as number | null, signal: (signal ?? null) as string | null};
		this.#child = {...this.#child, isAlive: false, exitCode: facts.exit_code, signal: facts.signal};
		const isExit = error.code === 'ERR_CHILD_EXITED';
		const death = new Death(isExit ? error.message : error.sentence, isExit ? stderr : '', facts);
		const isReported = this.sessions.live.some(({turns: {running, queue}}) => running || queue.length > 0);
		this.runner.gone(death);
		if (isReported) this.runner.death = death.known;
	}

	/** Ends all sessions, each with a summary if there is time for that. `hurry` resolves when there is none. */
	end(hurry: Promise<unknown>): Promise<void> {
		this.#ending ??= this.#end(hurry);
		return this.#ending;
	}

	async #end(hurry: Promise<unknown>): Promise<void> {
		const started = performance.now();
		const saved = this.sessions.allInterrupted();
		await Promise.race([saved, hurry, pause(BUDGET_MS / 2)]);
		const withinMs = Math.max(1, BUDGET_MS - (performance.now() - started));
		void hurry.then(() => this.runner.hurry());
		await Promise.all(
			this.sessions.live.map(session => this.runner.close(session, {wantsSummary: true, withinMs})),
		);
	}

	/** Nothing more will happen: all is written out. */
	async close(): Promise<void> {
		await this.office.close();
		await this.tools.settled();
		await this.#registry.close();
		await this.#audit.close();
	}
}

/** Moves sessions that an earlier version has left. Without them, bridge serve goes on. */
async function adopt(options: MoveOptions): Promise<void> {
	try {
		await moveSessions(options);
	} catch (error) {
		const {from, to, log} = options;
		const reason = error instanceof Error ? error.message : String(error);
		const sentence = `The sessions in ${from} that belong to this repository could not be moved to ${to}: ${reason} The next start tries again.`;
		log.warn('registry.not_moved', sentence);
	}
}

/** The session that is meant: by any of its names, or the last one of the identity. */
function resumed(
	registry: Registry,
	{identity}: AtmConfig,
	ref: string,
	log: Log,
): {readonly resume: string} | {readonly notice: string} {
	const found = registry.find(ref === '' ? identity : ref);
	if (found && found.status !== 'active') return {resume: found.codex_id};
	const what = ref === '' ? `of ${identity}` : printable(shortened(ref));
	const why = found ? 'it is active in another bridge serve' : 'there is none';
	const problem = `The session ${what} that --resume names cannot be resumed: ${why}.`;
	log.warn('resume.nothing', `${problem} The first call starts a new one.`);
	return {
		notice: `${problem} A new one was started instead; codex_threads lists those that can be resumed with codex and codex_id.`,
	};
}
