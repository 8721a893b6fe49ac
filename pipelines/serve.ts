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
	/** The level of the log; at debug and trace it has the messages of the client. */
	readonly logLevel?: LogLevelName;
	readonly trace?: TraceOptions | undefined;
	/** The traffic log. */
	readonly taps?: Taps | undefined;
	readonly clientVersion?: HandshakeVersion | undefined;
	readonly pending?: PendingRequests;
	readonly maxBytes?: number;
	/** Told when Codex is gone, with what it died of. */
	readonly onExit: (error: BridgeError) => void;
	/** The version of bridge. */
	readonly version: string;
};

/** How long Codex may take for what is no turn: to shake hands, or to list its tools. */
const TIMEOUT_MS = 60_000;

/** A client in front of many Codex sessions. Read it down as a call flows, and up as its answer does. */
export function serveStages(options: ServePipelineOptions): Stage[] {
	const {log, logLevel = 'info', auditLog, runner, calls, sessions, trace: traceOptions, taps} = options;
	const {pending = new PendingRequests(), maxBytes = MESSAGE_LIMIT, clientVersion, onExit, version} = options;
	const negotiation = new Negotiation({upstream: 'codex', clientVersion});
	return [
		traceOptions ? trace(traceOptions) : {}, //                    what passes, for people
		logMessages({log, level: logLevel, peer: 'client'}), // the same, in the log
		taps?.client ?? {}, //                         what the client says and hears, for the traffic log
		splitBatches({negotiation, log}), //               a batch is the messages in it
		parse({log, from: 'client', maxBytes, failsResponses: true}), // what is no message goes no further
		matchResponses({log, upstream: 'codex', pending, dropsCancelled: true}), // one answer a request, none if cancelled
		timeLimit({timeoutMs: TIMEOUT_MS, upstream: 'codex', pending, negotiation, exempt: ['tools/call']}), // turns have their own
		...versionStages({negotiation, log, transport: 'stdio', pending}), // each side in its own version
		addTools({tools: options.tools}), //            tools for sessions and for mail
		notifyMail({mail: options.mail}), //         mail that has come
		injectContext({
			log,
			auditLog,
			sessions,
			calls,
			admissions: options.admissions,
			rejection: options.rejection,
		}), //                                         whose call it is, and where; nothing that is not Codex's
		runTurns({
			sessions,
			runner,
			calls,
			...(options.drained ? {drained: options.drained} : {}),
		}), //                                         one turn of a session at a time
		audit({auditLog, requests: runner.requests}), // who asked what
		surviveExit({onExit, version}), //            what is left when Codex is gone
		parse({log, from: 'upstream', maxBytes}), //   what is no message goes no further
		taps?.upstream ?? {}, //                       what Codex hears and says, where that differs
	];
}
