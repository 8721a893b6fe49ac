import type {Headers} from '../envelope.js';
import type {Log} from '../log.js';
import type {Endpoint} from '../stage.js';
import {httpClient} from './http-client.js';
import {httpOrSse} from './http-or-sse.js';
import {type RevivedOptions, revived} from './revived.js';
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
};

/** A server elsewhere, by whichever transport it is reached. */
export function remote(options: RemoteOptions): Endpoint {
	const {name, url, log, maxBytes, transport, isGuessed, headers} = options;
	const http = (): Endpoint => httpClient({name, url, log, maxBytes});
	const sse = (): Endpoint =>
		revived({...options, open: () => sseClient({name, url, log, maxBytes, headers})});
	if (transport === 'ws') return revived({...options, open: () => wsClient({name, url, maxBytes, headers})});
	if (transport === 'sse') return sse();
	return isGuessed ? httpOrSse({name, log, http, sse}) : http();
}
