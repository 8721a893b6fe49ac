import type {Log} from '../lib/core/log.js';
import type {Stage} from '../lib/core/stage.js';
import {parse} from '../lib/operators/parse.js';
import {
	type RewriteVersionOneWayOptions,
	rewriteVersionOneWay,
} from '../lib/operators/rewrite-version-one-way.js';
import {trace} from '../lib/operators/trace.js';
import type {Taps} from '../lib/traffic-log/record-messages.js';

type FilterPipelineOptions = RewriteVersionOneWayOptions & {
	readonly log: Log;
	readonly trace?: Parameters<typeof trace>[0] | undefined;
	readonly taps?: Taps | undefined;
};

/** The stages for one direction of a conversation in a shell pipe. They cannot reply to a message. */
export function filterStages({log, trace: traceOptions, taps, ...versions}: FilterPipelineOptions): Stage[] {
	return [
		traceOptions ? trace({...traceOptions, isOneWay: true}) : {}, // prints each message
		taps?.client ?? {}, // records each message
		parse({log, from: 'client', isOneWay: true}), // drops invalid messages
		rewriteVersionOneWay(versions), // applies --client-version and --target-version to this direction
	];
}
