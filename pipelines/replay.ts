import type {Log} from '../lib/core/log.js';
import type {Stage} from '../lib/core/stage.js';
import {MESSAGE_LIMIT} from '../lib/operators/frame.js';
import {parse} from '../lib/operators/parse.js';
import {type TraceOptions, trace} from '../lib/operators/trace.js';
import type {Taps} from '../lib/traffic-log/record-messages.js';

type ReplayPipelineOptions = {
	readonly log: Log;
	readonly trace?: TraceOptions | undefined;
	/** The traffic log. */
	readonly taps?: Taps | undefined;
};

/** A recorded client in front of a live server. Nothing is changed: what differs is what is to be seen. */
export const replayStages = ({log, trace: traceOptions, taps}: ReplayPipelineOptions): Stage[] => [
	traceOptions ? trace(traceOptions) : {}, //                                     what passes, for people
	taps?.client ?? {}, //                                          the new recording
	parse({log, from: 'upstream', maxBytes: MESSAGE_LIMIT}), //     what is no message goes no further
	taps?.upstream ?? {}, //                                        what the server says that is none
];
