import type {Stage} from '../lib/core/stage.js';
import {type WrapPipelineOptions, wrapStages} from './wrap.js';

type AtmToolsPipelineOptions = Pick<
	WrapPipelineOptions,
	'log' | 'trace' | 'taps' | 'pending' | 'clientVersion'
>;

/** An agent in front of its mail, which is an endpoint in this process. What is asked there has limits of its own. */
export const atmToolsStages = (options: AtmToolsPipelineOptions): Stage[] =>
	wrapStages({...options, upstream: 'atm-tools', transport: 'atm-tools', timeoutMs: 0});
