import type {Headers} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import type {Endpoint} from '../core/stage.js';
import type {UpstreamControl} from '../core/upstream-control.js';
import {httpClient} from '../transports/http-client/http-client.js';
import {sseClient} from '../transports/sse/sse-client.js';
import {webSocketClient} from '../transports/websocket/websocket-client.js';
import {httpOrSse} from './http-or-sse.js';
import {restartingUpstream} from './restart.js';
import type {RestartOptions} from './restart-options.js';

export type RemoteUpstreamOptions = Omit<RestartOptions, 'open'> & {
	readonly name: string;
	readonly url: URL;
	readonly log: Log;
	readonly maxBytes: number;
	readonly transport: 'http' | 'sse' | 'ws';
	/** Nobody said that it is http, so it may turn out to be sse. */
	readonly isTransportGuessed: boolean;
	/** What a connection that stays is made with. */
	readonly headers: () => Headers;
	/** Where any of several replicas may carry the conversation on. */
	readonly upstreamControl?: UpstreamControl | undefined;
	/** It turned out to be sse. */
	readonly onSse?: () => void;
};

/** A server elsewhere, by whichever transport it is reached. */
export function remoteUpstream(options: RemoteUpstreamOptions): Endpoint {
	const {name, url, log, maxBytes, transport, isTransportGuessed, headers, upstreamControl} = options;
	const http = (): Endpoint => httpClient({name, url, log, maxBytes, upstreamControl});
	const sse = (): Endpoint =>
		restartingUpstream({...options, open: () => sseClient({name, url, log, maxBytes, headers})});
	if (transport === 'ws')
		return restartingUpstream({...options, open: () => webSocketClient({name, url, maxBytes, headers})});
	if (transport === 'sse') return sse();
	const onSse = (): void => {
		options.onSse?.();
		if (upstreamControl) upstreamControl.isConnectionBound = true;
	};
	return isTransportGuessed ? httpOrSse({name, log, http, sse, onSse}) : http();
}
