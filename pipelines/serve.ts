import type {BridgeError} from '../lib/errors.js';
import type {Level, Log} from '../lib/log.js';
import {type AddToolsOptions, addTools} from '../lib/operators/add-tools.js';
import {audit} from '../lib/operators/audit.js';
import {MESSAGE_LIMIT} from '../lib/operators/frame.js';
import {type InjectContextOptions, injectContext} from '../lib/operators/inject-context.js';
import {logTraffic} from '../lib/operators/log-traffic.js';
import {matchAnswers} from '../lib/operators/match-answers.js';
import {type OneTurnOptions, oneTurn} from '../lib/operators/one-turn.js';
import {outliveChild} from '../lib/operators/outlive-child.js';
import {parse} from '../lib/operators/parse.js';
import type {Taps} from '../lib/operators/record.js';
import {splitBatches} from '../lib/operators/split-batches.js';
import {type TellMailOptions, tellMail} from '../lib/operators/tell-mail.js';
import {timeLimit} from '../lib/operators/time-limit.js';
import {type TraceOptions, trace} from '../lib/operators/trace.js';
import {Session} from '../lib/protocol/session.js';
import type {HandshakeVersion} from '../lib/protocol/version.js';
import type {Stage} from '../lib/stage.js';
import {WaitingRequests} from '../lib/waiting-requests.js';
import {speakVersions} from './wrap.js';

export type ServeOptions = Omit<
	AddToolsOptions & InjectContextOptions & OneTurnOptions & TellMailOptions,
	'log'
> & {
	readonly log: Log;
	/** The level of the log; at debug and trace it has the messages of the client. */
	readonly logLevel?: Level;
	readonly trace?: TraceOptions | undefined;
	/** The traffic log. */
	readonly taps?: Taps | undefined;
	readonly clientVersion?: HandshakeVersion | undefined;
	readonly waiting?: WaitingRequests;
	readonly maxBytes?: number;
	/** Told when Codex is gone, with what it died of. */
	readonly onGone: (error: BridgeError) => void;
	/** The version of bridge. */
	readonly version: string;
};

/** How long Codex may take for what is no turn: to shake hands, or to list its tools. */
const TIMEOUT_MS = 60_000;

/** A client in front of many Codex sessions. Read it down as a call flows, and up as its answer does. */
export function serve(options: ServeOptions): Stage[] {
	const {log, logLevel = 'info', journal, runner, calls, sessions, trace: show, taps} = options;
	const {waiting = new WaitingRequests(), maxBytes = MESSAGE_LIMIT, clientVersion, onGone, version} = options;
	const session = new Session({upstream: 'codex', clientVersion});
	return [
		show ? trace(show) : {}, //                    what passes, for people
		logTraffic({log, level: logLevel, peer: 'client'}), // the same, in the log
		taps?.client ?? {}, //                         what the client says and hears, for the traffic log
		splitBatches({session, log}), //               a batch is the messages in it
		parse({log, from: 'client', maxBytes, failsResponses: true}), // what is no message goes no further
		matchAnswers({log, upstream: 'codex', waiting, dropsCancelled: true}), // one answer a request, none if cancelled
		timeLimit({timeoutMs: TIMEOUT_MS, upstream: 'codex', waiting, session, free: ['tools/call']}), // turns have their own
		...speakVersions({session, log, transport: 'stdio', waiting}), // each side in its own version
		addTools({tools: options.tools}), //            tools for sessions and for mail
		tellMail({office: options.office}), //         mail that has come
		injectContext({
			log,
			journal,
			sessions,
			calls,
			admissions: options.admissions,
			refusal: options.refusal,
		}), //                                         whose call it is, and where; nothing that is not Codex's
		oneTurn({
			sessions,
			runner,
			calls,
			...(options.lastWords ? {lastWords: options.lastWords} : {}),
		}), //                                         one turn of a session at a time
		audit({journal, requests: runner.requests}), // who asked what
		outliveChild({onGone, version}), //            what is left when Codex is gone
		parse({log, from: 'upstream', maxBytes}), //   what is no message goes no further
		taps?.upstream ?? {}, //                       what Codex hears and says, where that differs
	];
}
