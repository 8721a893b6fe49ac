import type {Stage} from '../lib/core/stage.js';
import {HUB_TRANSPORT} from '../lib/protocol/connection-log.js';
import type {HandshakeVersion} from '../lib/protocol/version.js';
import {type WrapPipelineOptions, wrapStages} from './wrap.js';

type HubPipelineOptions = Pick<WrapPipelineOptions, 'log' | 'trace' | 'taps' | 'pending' | 'maxBytes'> & {
	readonly clientVersion: HandshakeVersion | undefined;
};

/**
 * The stages between a client and the hub, an endpoint in this process. Behind the hub, each upstream has a
 * gateway pipeline whose client is the hub. The time limits of these pipelines apply, so there is none here.
 */
export const hubStages = (options: HubPipelineOptions): Stage[] =>
	wrapStages({...options, upstream: 'hub', transport: HUB_TRANSPORT, timeoutMs: 0});
