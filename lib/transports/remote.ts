import type {Headers} from '../envelope.js';
import type {Log} from '../log.js';
import type {Endpoint} from '../stage.js';
import type {Carriage} from './carriage.js';
import {httpClient} from './http-client.js';
import {httpOrSse} from './http-or-sse.js';
import {revived} from './revived.js';
import type {RevivedOptions} from './revived-options.js';
import {sseClient} from './sse-client.js';
import {wsClient} from './websocket-client.js';

export type RemoteOptions = Omit<RevivedOptions, 'open'> & {
	readonly name: string;
	readonly url: URL;
	readonly log: Log;
	readonly maxBytes: number;
	readonly transport: 'http' | 'sse' | 'ws';
	/** Nobody said that it is http, so it may turn out to be sse. */
	readonly isGuessed: boolean;
	/** What a connection that stays is made with. */
	readonly headers: () => Headers;
	/** Where any of several replicas may carry the conversation on. */
	readonly carriage?: Carriage | undefined;
	/** It turned out to be sse. */
	readonly onSse?: () => void;
};

/** A server elsewhere, by whichever transport it is reached. */
export function remote(options: RemoteOptions): Endpoint {
	const {name, url, log, maxBytes, transport, isGuessed, headers, carriage} = options;
	const http = (): Endpoint => httpClient({name, url, log, maxBytes, carriage});
	const sse = (): Endpoint =>
		revived({...options, open: () => sseClient({name, url, log, maxBytes, headers})});
	if (transport === 'ws') return revived({...options, open: () => wsClient({name, url, maxBytes, headers})});
	if (transport === 'sse') return sse();
	const onSse = (): void => {
		options.onSse?.();
		if (carriage) carriage.isFixed = true;
	};
	return isGuessed ? httpOrSse({name, log, http, sse, onSse}) : http();
}
