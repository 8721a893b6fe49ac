export {type Body, Envelope, type Headers, type Origin, type Refusal} from './envelope.js';
export {BridgeError, type FailureCode, failures} from './errors.js';
export {createLog, type Level, type Log} from './log.js';
export {type CacheToolsOptions, cacheTools} from './operators/cache-tools.js';
export {frame, MESSAGE_LIMIT} from './operators/frame.js';
export {holdUntilReady} from './operators/hold-until-ready.js';
export {injectSession} from './operators/inject-session.js';
export {matchAnswers} from './operators/match-answers.js';
export {modernClient} from './operators/modern-client.js';
export {modernUpstream} from './operators/modern-upstream.js';
export {normaliseHeaders} from './operators/normalise-headers.js';
export {parse} from './operators/parse.js';
export {pollTasks} from './operators/poll-tasks.js';
export {record} from './operators/record.js';
export {rewriteVersion} from './operators/rewrite-version.js';
export {splitBatches} from './operators/split-batches.js';
export {timeLimit} from './operators/time-limit.js';
export {trace} from './operators/trace.js';
export {translateVersion} from './operators/translate-version.js';
export {Session, type SessionOptions} from './protocol/session.js';
export {Translator, type TranslatorOptions} from './protocol/translate.js';
export {type HandshakeVersion, type Version, versions} from './protocol/version.js';
export {
	behind,
	connect,
	type Endpoint,
	type Operator,
	type Outlets,
	perMessage,
	type Stage,
	type Step,
	type Steps,
	stage,
} from './stage.js';
export {TrafficLog} from './store/traffic-log.js';
export {ToolsCache, type ToolsCacheOptions} from './tools-cache.js';
export {child} from './transports/child.js';
export {httpClient} from './transports/http-client.js';
export {memory} from './transports/memory.js';
export {ownStdio} from './transports/own-stdio.js';
export {type RemoteOptions, remote} from './transports/remote.js';
export {type SharedState, SharedUpstream, type SharedUpstreamOptions} from './transports/shared.js';
export {sseClient} from './transports/sse-client.js';
export {wsClient} from './transports/websocket-client.js';
export {unless} from './unless.js';
export {Valve} from './valve.js';
export {WaitingRequests} from './waiting-requests.js';
export type {Flaw, Head} from './wire/scan.js';
