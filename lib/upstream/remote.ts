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
	/** Whether the configuration names no transport, so that `http` may turn out to be `sse`. */
	readonly isTransportGuessed: boolean;
	/** Returns the headers of a long-lived connection. */
	readonly headers: () => Headers;
	/** Present if other replicas may continue the conversation. */
	readonly upstreamControl?: UpstreamControl | undefined;
	/** Called when `http` turns out to be `sse`. */
	readonly onSse?: () => void;
};

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
