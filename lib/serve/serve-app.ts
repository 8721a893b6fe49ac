import type {BridgeError} from '../core/errors.js';
import type {Log} from '../core/log.js';
import type {JsonObject} from '../util/json.js';
import {pause} from '../util/pause.js';
import {printable, shortened} from '../util/printable.js';
import type {ServeConfig} from './config/types.js';
import {type MailServerSession, mailServerEntryFor} from './mail/codex-server-entry.js';
import type {Mail} from './mail/mail.js';
import {createMail} from './mail/mail.js';
import {RosterRegistration} from './mail/roster-registration.js';
import {MailScheduler} from './mail/scheduler.js';
import {sessionCallerResolver} from './mail/session-caller-resolver.js';
import {createMailTools} from './mail/tools.js';
import {auditFolder, stateFolder} from './paths.js';
import type {AcceptedCalls} from './sessions/accepted-calls.js';
import {AuditFile} from './sessions/audit-file.js';
import {AuditLog} from './sessions/audit-log.js';
import {BridgeTools} from './sessions/bridge-tools.js';
import {CallPreparer} from './sessions/call-preparer.js';
import {CodexExitedError} from './sessions/codex-exited-error.js';
import {CodexSessions} from './sessions/codex-sessions.js';
import {type CodexProcessState, managementTools} from './sessions/management-tools.js';
import {type MoveSessionsOptions, moveSessions} from './sessions/move-sessions.js';
import {SessionRegistry} from './sessions/session-registry.js';
import {SessionRouter} from './sessions/session-router.js';
import {SessionSummaries} from './sessions/session-summaries.js';
import {locateSessionState} from './sessions/state-folder.js';
import {ToolError} from './sessions/tool-error.js';
import {bridgeToolSchemas, codexToolNames} from './sessions/tool-schemas.js';
import {TurnRunner} from './sessions/turn-runner.js';

type ServeAppOptions = {
	readonly config: ServeConfig;
	readonly log: Log;
	readonly cwd: string;
	readonly timeoutMs: number;
	/** Id of the session to resume. An empty string resumes the identity's most recent session. */
	readonly resume: string | undefined;
	/** Builds the configuration of the MCP server that provides a session's mail tools. */
	readonly mailServer?: (owner: MailServerSession) => JsonObject;
	/** Configuration that disables MCP servers for sessions in a folder. */
	readonly disabledServers?: (cwd: string) => Promise<JsonObject>;
};

const END_SESSIONS_TIMEOUT_MS = 10_000;

/** The components of `bridge serve`: many sessions that share one Codex process. */
export class ServeApp {
	readonly sessions: CodexSessions;
	readonly runner: TurnRunner;
	readonly acceptedCalls: AcceptedCalls = new Map();
	readonly auditLog: AuditLog;
	readonly sessionRouter: SessionRouter;
	readonly tools: BridgeTools;
	readonly mail: Mail;
	readonly mailScheduler: MailScheduler;
	readonly #auditFile: AuditFile;
	readonly #registry: SessionRegistry;
	#codexState: CodexProcessState = {isAlive: false, backend: 'none'};
	#ending: Promise<void> | undefined;

	private constructor(
		options: ServeAppOptions,
		registry: SessionRegistry,
		auditFile: AuditFile,
		roster: RosterRegistration,
	) {
		const {config, log, cwd, timeoutMs, resume} = options;
		const summaries = new SessionSummaries(registry.folder);
		this.#registry = registry;
		this.#auditFile = auditFile;
		this.sessions = new CodexSessions({config, registry, log, roster});
		this.auditLog = new AuditLog(auditFile, config.team, log);
		this.runner = new TurnRunner({
			sessions: this.sessions,
			summaries,
			log,
			timeoutMs,
			auditLog: this.auditLog,
		});
		const mailServer = options.mailServer && mailServerEntryFor(config, options.mailServer);
		const {disabledServers} = options;
		const callPreparer = new CallPreparer({
			config,
			summaries,
			log,
			cwd,
			disabledServers,
			...(mailServer ? {mailServer} : {}),
		});
		this.sessionRouter = new SessionRouter({
			sessions: this.sessions,
			callPreparer,
			...(resume === undefined ? {} : resolveResume(registry, config, resume, log)),
			canChangeSettings: () => this.#codexState.backend === 'app-server',
		});
		const {sessions, runner, auditLog, sessionRouter} = this;
		const mail = createMail(config);
		this.mail = mail;
		this.mailScheduler = new MailScheduler({
			sessions,
			runner,
			auditLog,
			log,
			sessionRouter,
			mail,
			isShuttingDown: () => this.#ending !== undefined,
		});
		this.tools = new BridgeTools({
			tools: [
				...managementTools({
					sessions,
					runner,
					auditLog,
					mailScheduler: this.mailScheduler,
					codexState: () => this.#codexState,
				}),
				...createMailTools({mail, auditLog, resolveCaller: sessionCallerResolver(sessions)}),
			],
			auditLog,
			log,
			schemas: bridgeToolSchemas,
			forwarded: codexToolNames,
		});
	}

	static async open(options: ServeAppOptions): Promise<ServeApp> {
		const {config, log, cwd} = options;
		const {base, team, persistThreads: isPersistent, auditFsync} = config;
		const {folder, repoRoot} = await locateSessionState(config, cwd);
		if (repoRoot !== undefined && isPersistent)
			await moveLegacySessions({from: stateFolder(base, team), to: folder, repoRoot, log});
		const registry = await SessionRegistry.open({folder, team, log, isPersistent});
		const roster = new RosterRegistration({claude: config.claude, team, log});
		await roster.sweep();
		const auditFile = await AuditFile.open({folder: auditFolder(base), log, fsync: auditFsync});
		return new ServeApp(options, registry, auditFile, roster);
	}

	/** Returns the error for new calls after Codex has exited or shutdown has begun, otherwise undefined. */
	readonly currentRejection = (): ToolError | undefined => {
		const {exitError} = this.runner;
		// Only the first caller receives the stderr of Codex.
		if (exitError instanceof CodexExitedError) this.runner.exitError = exitError.withoutStderr;
		if (exitError || this.#ending === undefined) return exitError;
		return new ToolError('session_closed', 'bridge serve is shutting down and accepts no more calls.');
	};

	codexStarted(backend: string): void {
		this.#codexState = {isAlive: true, backend};
	}

	/** Ends all sessions with an error. `stderr` is the last output of Codex on stderr. */
	codexExited(error: BridgeError, stderr: string): void {
		const {exitCode, signal} = error.details;
		const exitDetails = {
			exit_code: (exitCode ?? null) as number | null,
			signal: (signal ?? null) as string | null,
		};
		this.#codexState = {
			...this.#codexState,
			isAlive: false,
			exitCode: exitDetails.exit_code,
			signal: exitDetails.signal,
		};
		const isExit = error.code === 'ERR_CHILD_EXITED';
		const exitError = new CodexExitedError(
			isExit ? error.message : error.sentence,
			isExit ? stderr : '',
			exitDetails,
		);
		const hasPendingTurns = this.sessions.live.some(
			({turnQueue: {running, queue}}) => running || queue.length > 0,
		);
		this.runner.codexExited(exitError);
		if (hasPendingTurns) this.runner.exitError = exitError.withoutStderr;
	}

	/** Ends all sessions. Each one saves a summary if that completes before `deadline` resolves. */
	endSessions(deadline: Promise<unknown>): Promise<void> {
		this.#ending ??= this.#endSessions(deadline);
		return this.#ending;
	}

	async #endSessions(deadline: Promise<unknown>): Promise<void> {
		const started = performance.now();
		const saved = this.sessions.markAllInterrupted();
		await Promise.race([saved, deadline, pause(END_SESSIONS_TIMEOUT_MS / 2)]);
		const withinMs = Math.max(1, END_SESSIONS_TIMEOUT_MS - (performance.now() - started));
		void deadline.then(() => this.runner.expireClosing());
		await Promise.all(
			this.sessions.live.map(session => this.runner.close(session, {wantsSummary: true, withinMs})),
		);
	}

	/** Waits for pending actions, then writes and closes all files. */
	async close(): Promise<void> {
		await this.mailScheduler.close();
		await this.tools.settled();
		await this.#registry.close();
		await this.#auditFile.close();
	}
}

/** Moves sessions that an earlier version of bridge stored elsewhere. A failure is only logged. */
async function moveLegacySessions(options: MoveSessionsOptions): Promise<void> {
	try {
		await moveSessions(options);
	} catch (error) {
		const {from, to, log} = options;
		const reason = error instanceof Error ? error.message : String(error);
		const sentence = `The sessions in ${from} that belong to this repository could not be moved to ${to}: ${reason} The next start retries this.`;
		log.warn('registry.not_moved', sentence);
	}
}

/** Finds the session for --resume by codex id, thread id or identity. By default, the identity is used. */
function resolveResume(
	registry: SessionRegistry,
	{identity}: ServeConfig,
	ref: string,
	log: Log,
): {readonly resume: string} | {readonly notice: string} {
	const found = registry.find(ref === '' ? identity : ref);
	if (found && found.status !== 'active') return {resume: found.codex_id};
	const label = ref === '' ? `of ${identity}` : printable(shortened(ref));
	const reason = found ? 'it is active in another bridge serve' : 'it does not exist';
	const sentence = `--resume: the session ${label} cannot be resumed: ${reason}.`;
	log.warn('resume.nothing', `${sentence} The first call starts a new one.`);
	return {
		notice: `${sentence} A new session was started instead. codex_threads lists the sessions that codex can resume with a codex_id.`,
	};
}
