import type {Stage} from '../lib/core/stage.js';
import {HUB_TRANSPORT} from '../lib/protocol/connection-log.js';
import type {HandshakeVersion} from '../lib/protocol/version.js';
import {type WrapPipelineOptions, wrapStages} from './wrap.js';

type HubPipelineOptions = Pick<WrapPipelineOptions, 'log' | 'trace' | 'taps' | 'pending' | 'maxBytes'> & {
	readonly clientVersion: HandshakeVersion | undefined;
};

/**
 * A client in front of all servers as one, which is an endpoint in this process. Behind it, each server has the pipeline
 * of the gateway, with the hub for its client; so nothing here has a time limit: the servers' own hold.
 */
export const hubStages = (options: HubPipelineOptions): Stage[] =>
	wrapStages({...options, upstream: 'hub', transport: HUB_TRANSPORT, timeoutMs: 0});
