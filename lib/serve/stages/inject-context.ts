import {Envelope} from '../../core/envelope.js';
import {type Log, logBug} from '../../core/log.js';
import {type Stage, type StageOutputs, type StageSteps, stage} from '../../core/stage.js';
import {objectOf} from '../../util/json.js';
import {canonicalId} from '../../wire/id.js';
import {memberText} from '../../wire/member.js';
import type {AcceptedCalls} from '../sessions/accepted-calls.js';
import type {AuditLog} from '../sessions/audit-log.js';
import type {CodexSessions} from '../sessions/codex-sessions.js';
import {type CodexCall, parseCodexCall} from '../sessions/parse-codex-call.js';
import type {RoutedCall, SessionRouter} from '../sessions/session-router.js';
import {ToolError, toToolError} from '../sessions/tool-error.js';

export type InjectContextOptions = {
	readonly sessions: CodexSessions;
	readonly sessionRouter: SessionRouter;
	/** Receives prepared calls, for `runTurns`. */
	readonly calls: AcceptedCalls;
	readonly auditLog: AuditLog;
	readonly log: Log;
	/** Returns the error for all calls, for example after Codex has exited. */
	readonly rejection: () => ToolError | undefined;
};

/**
 * Prepares calls of Codex tools: routes them to sessions, removes arguments of bridge and adds the session
 * context. Invalid calls are rejected here.
 */
export const injectContext = (options: InjectContextOptions): Stage =>
	stage(out => new ContextInjector(options, out));

class ContextInjector implements StageSteps {
	readonly #options: InjectContextOptions;
	readonly #out: StageOutputs;
	/** Calls in preparation, by request key. A cancelled one is rejected instead of forwarded. */
	readonly #preparing = new Map<string, {isCancelled: boolean}>();
	/** The number of calls that wait for a registry refresh. */
	#refreshing = 0;

	constructor(options: InjectContextOptions, out: StageOutputs) {
		this.#options = options;
		this.#out = out;
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		const {key, method} = envelope.head;
		if (method === 'notifications/cancelled') return this.#cancelled(envelope);
		if (method !== 'tools/call' || key === undefined) return envelope;
		const {name, arguments: args} = objectOf(envelope.body.params);
		if (name !== 'codex' && name !== 'codex-reply') return envelope;
		try {
			const call = parseCodexCall(name, args, this.#options.sessions.config.agentFileAs);
			this.#preparing.set(key, {isCancelled: false});
			// Calls that arrive during a refresh also wait for one, so that calls keep their order.
			if (this.#refreshing > 0 || this.#options.sessionRouter.needsRegistryRefresh(call))
				void this.#refreshThenAdmit(envelope, key, call);
			else this.#admit(envelope, key, call);
		} catch (error) {
			this.#reject(envelope, error);
		}
		return;
	};

	/** Refreshes the registry first, since another process may have ended or resumed the session. */
	async #refreshThenAdmit(envelope: Envelope, key: string, call: CodexCall): Promise<void> {
		this.#refreshing++;
		await this.#options.sessions.registry.refresh();
		this.#refreshing--;
		this.#admit(envelope, key, call);
	}

	#admit(envelope: Envelope, key: string, call: CodexCall): void {
		try {
			const rejection = this.#options.rejection();
			if (rejection) throw rejection;
			this.#prepare(envelope, key, this.#options.sessionRouter.route(call));
		} catch (error) {
			void this.#options.sessionRouter.rejectionReason(call, error).then(reason => {
				this.#preparing.delete(key);
				this.#reject(envelope, reason);
			});
		}
	}

	#prepare(envelope: Envelope, key: string, {session, isNew, prepare}: RoutedCall): void {
		session.preparingCount++;
		const prepared = session.preparationQueue.then(async () => {
			try {
				const {tool, arguments: args, acceptedCall} = await prepare();
				if (this.#preparing.get(key)?.isCancelled)
					throw new ToolError('cancelled', 'This call was cancelled before it started.');
				const rejection = this.#options.rejection();
				if (rejection) throw rejection;
				this.#options.calls.set(key, acceptedCall);
				const params = {...objectOf(envelope.body.params), name: tool, arguments: args};
				this.#out.toUpstream(envelope.with({...envelope.body, params}));
			} catch (error) {
				if (isNew) await this.#options.sessions.discard(session);
				this.#reject(envelope, error);
			} finally {
				this.#preparing.delete(key);
				session.preparingCount--;
			}
		});
		session.preparationQueue = prepared.catch(error => logBug(this.#options.log, error));
	}

	#reject(envelope: Envelope, error: unknown): void {
		const rejection = toToolError(error);
		if (!(error instanceof ToolError)) logBug(this.#options.log, error);
		this.#options.auditLog.callRejected(objectOf(envelope.body.params), rejection);
		this.#out.toClient(
			Envelope.response(envelope.head.id ?? 'null', 'result', rejection.result, envelope.origin),
		);
	}

	#cancelled(envelope: Envelope): Envelope | undefined {
		const id = memberText(envelope.bytes, 'params', 'requestId');
		const call = id === undefined ? undefined : this.#preparing.get(canonicalId(id));
		if (!call) return envelope;
		call.isCancelled = true;
		return;
	}
}
