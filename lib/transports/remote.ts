import type {Headers} from '../envelope.js';
import type {Log} from '../log.js';
import type {Endpoint} from '../stage.js';
import type {UpstreamControl} from './carriage.js';
import {httpClient} from './http-client.js';
import {httpOrSse} from './http-or-sse.js';
import {restartingUpstream} from './revived.js';
import type {RestartOptions} from './revived-options.js';
import {sseClient} from './sse-client.js';
import {webSocketClient} from './websocket-client.js';

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
