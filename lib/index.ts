export {type Body, Envelope, type Headers, type HttpErrorReply, type MessageOrigin} from './envelope.js';
export {BridgeError, type ErrorCode, errorCodes} from './errors.js';
export {createLog, type Log, type LogLevelName} from './log.js';
export {type CacheToolsOptions, cacheTools} from './operators/cache-tools.js';
export {frame, MESSAGE_LIMIT} from './operators/frame.js';
export {queueUntilReady} from './operators/hold-until-ready.js';
export {injectSession} from './operators/inject-session.js';
export {matchResponses} from './operators/match-answers.js';
export {statelessClient} from './operators/modern-client.js';
export {statelessUpstream} from './operators/modern-upstream.js';
export {normalizeHeaders} from './operators/normalise-headers.js';
export {parse} from './operators/parse.js';
export {pollTasks} from './operators/poll-tasks.js';
export {recordMessages} from './operators/record.js';
export {rewriteVersion} from './operators/rewrite-version.js';
export {splitBatches} from './operators/split-batches.js';
export {timeLimit} from './operators/time-limit.js';
export {trace} from './operators/trace.js';
export {translateVersion} from './operators/translate-version.js';
export {Negotiation, type NegotiationOptions} from './protocol/session.js';
export {Translator, type TranslatorOptions} from './protocol/translate.js';
export {type HandshakeVersion, type Version, versions} from './protocol/version.js';
export {
	behind,
	connect,
	type Endpoint,
	type Operator,
	perMessage,
	type Stage,
	type StageOutputs,
	type StageStep,
	type StageSteps,
	stage,
} from './stage.js';
export {TrafficLog} from './store/traffic-log.js';
export {ToolsCache, type ToolsCacheOptions} from './tools-cache.js';
export {child} from './transports/child.js';
export {httpClient} from './transports/http-client.js';
export {memoryEndpoint} from './transports/memory.js';
export {stdioEndpoint} from './transports/own-stdio.js';
export {type RemoteUpstreamOptions, remoteUpstream} from './transports/remote.js';
export {type SharedState, SharedUpstream, type SharedUpstreamOptions} from './transports/shared.js';
export {sseClient} from './transports/sse-client.js';
export {webSocketClient} from './transports/websocket-client.js';
export {bypassWhen} from './unless.js';
export {Valve} from './valve.js';
export {PendingRequests} from './waiting-requests.js';
export type {Flaw, MessageHead} from './wire/scan.js';
