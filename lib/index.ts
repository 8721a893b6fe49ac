export {bypassWhen} from './core/bypass.js';
export {type Body, Envelope, type Headers, type HttpErrorReply, type MessageOrigin} from './core/envelope.js';
export {BridgeError, type ErrorCode, errorCodes} from './core/errors.js';
export {createLog, type Log, type LogLevelName} from './core/log.js';
export {memoryEndpoint} from './core/memory-endpoint.js';
export {PendingRequests} from './core/requests/pending.js';
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
} from './core/stage.js';
export {Valve} from './core/valve.js';
export {ToolsCache, type ToolsCacheOptions} from './operators/cache-tools/tools-cache.js';
export {type CacheToolsOptions, cacheTools} from './operators/cache-tools.js';
export {frame, MESSAGE_LIMIT} from './operators/frame.js';
export {injectSession} from './operators/inject-session.js';
export {matchResponses} from './operators/match-responses.js';
export {normalizeHeaders} from './operators/normalize-headers.js';
export {parse} from './operators/parse.js';
export {pollTasks} from './operators/poll-tasks.js';
export {queueUntilReady} from './operators/queue-until-ready.js';
export {rewriteVersion} from './operators/rewrite-version.js';
export {splitBatches} from './operators/split-batches.js';
export {statelessClient} from './operators/stateless-client.js';
export {statelessUpstream} from './operators/stateless-upstream.js';
export {timeLimit} from './operators/time-limit.js';
export {trace} from './operators/trace.js';
export {translateVersion} from './operators/translate-version.js';
export {Negotiation, type NegotiationOptions} from './protocol/negotiation.js';
export {Translator, type TranslatorOptions} from './protocol/translator.js';
export {type HandshakeVersion, type Version, versions} from './protocol/version.js';
export {recordMessages} from './traffic-log/record-messages.js';
export {TrafficLog} from './traffic-log/traffic-log.js';
export {httpClient} from './transports/http-client/http-client.js';
export {child} from './transports/process/child.js';
export {sseClient} from './transports/sse/sse-client.js';
export {stdioEndpoint} from './transports/stdio/stdio.js';
export {webSocketClient} from './transports/websocket/websocket-client.js';
export {type RemoteUpstreamOptions, remoteUpstream} from './upstream/remote.js';
export {
	type SharedState,
	SharedUpstream,
	type SharedUpstreamOptions,
} from './upstream/share/shared-upstream.js';
export type {Flaw, MessageHead} from './wire/scan.js';
