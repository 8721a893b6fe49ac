export {type Body, Envelope, type Origin} from './envelope.js';
export {BridgeError, type FailureCode, failures} from './errors.js';
export {createLog, type Level, type Log} from './log.js';
export {frame, MESSAGE_LIMIT} from './operators/frame.js';
export {matchAnswers} from './operators/match-answers.js';
export {parse} from './operators/parse.js';
export {record} from './operators/record.js';
export {timeLimit} from './operators/time-limit.js';
export {trace} from './operators/trace.js';
export {
	connect,
	type Endpoint,
	type Operator,
	type Outlets,
	perMessage,
	type Stage,
	type Step,
	type Steps,
	stage,
} from './stage.js';
export {TrafficLog} from './store/traffic-log.js';
export {child} from './transports/child.js';
export {memory} from './transports/memory.js';
export {ownStdio} from './transports/own-stdio.js';
export {Valve} from './valve.js';
export type {Flaw, Head} from './wire/scan.js';
