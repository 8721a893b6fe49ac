import type {BridgeError} from '../lib/core/errors.js';
import type {Log, LogLevelName} from '../lib/core/log.js';
import {PendingRequests} from '../lib/core/requests/pending.js';
import type {Stage} from '../lib/core/stage.js';
import {MESSAGE_LIMIT} from '../lib/operators/frame.js';
import {logMessages} from '../lib/operators/log-messages.js';
import {matchResponses} from '../lib/operators/match-responses.js';
import {parse} from '../lib/operators/parse.js';
import {splitBatches} from '../lib/operators/split-batches.js';
import {timeLimit} from '../lib/operators/time-limit.js';
import {type TraceOptions, trace} from '../lib/operators/trace.js';
import {Negotiation} from '../lib/protocol/negotiation.js';
import type {HandshakeVersion} from '../lib/protocol/version.js';
import {type AddToolsOptions, addTools} from '../lib/serve/stages/add-tools.js';
import {audit} from '../lib/serve/stages/audit.js';
import {type InjectContextOptions, injectContext} from '../lib/serve/stages/inject-context.js';
import {type NotifyMailOptions, notifyMail} from '../lib/serve/stages/notify-mail.js';
import {type RunTurnsOptions, runTurns} from '../lib/serve/stages/run-turns.js';
import {surviveExit} from '../lib/serve/stages/survive-exit.js';
import type {Taps} from '../lib/traffic-log/record-messages.js';
import {versionStages} from './wrap.js';

type ServePipelineOptions = Omit<
	AddToolsOptions & InjectContextOptions & RunTurnsOptions & NotifyMailOptions,
	'log'
> & {
	readonly log: Log;
	/** At debug and trace, the messages of the client are logged. */
	readonly logLevel?: LogLevelName;
	readonly trace?: TraceOptions | undefined;
	readonly taps?: Taps | undefined;
	readonly clientVersion?: HandshakeVersion | undefined;
	readonly pending?: PendingRequests;
	readonly maxBytes?: number;
	/** Called when Codex has exited, with the reason. */
	readonly onExit: (error: BridgeError) => void;
	readonly version: string;
};

/** The time limit for requests to Codex other than turns, such as `initialize` and `tools/list`. */
const TIMEOUT_MS = 60_000;

/** The stages between a client and its Codex sessions. Calls pass from top to bottom, responses back. */
export function serveStages(options: ServePipelineOptions): Stage[] {
	const {log, logLevel = 'info', auditLog, runner, calls, sessions, trace: traceOptions, taps} = options;
	const {pending = new PendingRequests(), maxBytes = MESSAGE_LIMIT, clientVersion, onExit, version} = options;
	const negotiation = new Negotiation({upstream: 'codex', clientVersion});
	return [
		traceOptions ? trace(traceOptions) : {}, // prints each message
		logMessages({log, level: logLevel, peer: 'client'}), // logs the messages of the client
		taps?.client ?? {}, // records the messages of the client
		splitBatches({negotiation, log}), // splits batches into messages
		parse({log, from: 'client', maxBytes, failsResponses: true}), // rejects invalid messages
		// One response per request, or none if the request is cancelled.
		matchResponses({log, upstream: 'codex', pending, dropsCancelled: true}),
		// Turns have their own time limit.
		timeLimit({timeoutMs: TIMEOUT_MS, upstream: 'codex', pending, negotiation, exempt: ['tools/call']}),
		...versionStages({negotiation, log, transport: 'stdio', pending}), // translates between versions
		addTools({tools: options.tools}), // adds the tools for sessions and mail
		notifyMail({mail: options.mail}), // notifies the client of new mail
		injectContext({
			log,
			auditLog,
			sessions,
			calls,
			sessionRouter: options.sessionRouter,
			rejection: options.rejection,
		}), // resolves the session of a call, and removes arguments that Codex would reject
		runTurns({
			sessions,
			runner,
			calls,
			...(options.drained ? {drained: options.drained} : {}),
		}), // runs one turn of a session at a time
		audit({auditLog, requests: runner.requests}), // writes the audit log
		surviveExit({onExit, version}), // responds when Codex has exited
		parse({log, from: 'upstream', maxBytes}), // drops invalid messages
		taps?.upstream ?? {}, // records the messages of Codex that differ
	];
}
