import {performance} from 'node:perf_hooks';
import {context, type Span as OtelSpan, propagation, SpanStatusCode, trace} from '@opentelemetry/api';
import {BridgeError} from './errors.js';
import type {Log} from './log.js';
import {redactStart} from './redact.js';

/** Facts about what was done. */
export type SpanFields = {readonly [key: string]: string | number | boolean};

/** Where in a trace something happens, as messages carry it: `traceparent` and `tracestate`. */
export type TraceContext = {readonly [name: string]: unknown};

/** Something that takes time and succeeds or fails, which is told when it has. */
export type TracedSpan = {
	succeed(sentence: string, fields?: SpanFields): void;
	fail(sentence: string, error: unknown, fields?: SpanFields): void;
	/** What who does this for us is to be told of the trace: nothing, where nobody traces. */
	readonly traceContext: TraceContext;
};

/** How much of an error's text stands in the log. */
const MAX_MESSAGE = 300;

/**
 * Begins a span. Its name is the event of the entry that its end makes in the log, with how long it took and how it ended.
 * Where OpenTelemetry is set up, it is a span there, too, in the trace that `parent` belongs to.
 */
export function startSpan(log: Log, name: string, fields: SpanFields, parent: TraceContext = {}): TracedSpan {
	const start = performance.now();
	const duration = (): number => Math.round(performance.now() - start) / 1000;
	const parentContext = propagation.extract(context.active(), parent);
	const otelSpan = trace.getTracer('bridge').startSpan(name, {attributes: fields}, parentContext);
	const traceContext = {};
	propagation.inject(trace.setSpan(parentContext, otelSpan), traceContext);
	return {
		traceContext,
		succeed(sentence, more = {}) {
			log.info(name, sentence, {...fields, ...more, duration: duration(), status: 'SUCCESS'});
			otelSpan.setAttributes(more).end();
		},
		fail(sentence, error, more = {}) {
			const why = errorFields(error);
			log.warn(name, sentence, {...fields, ...more, duration: duration(), status: 'FAILED', ...why});
			endFailed(otelSpan, more, why);
		},
	};
}

function endFailed(otelSpan: OtelSpan, fields: SpanFields, {errorType, errorMessage}: ErrorFields): void {
	otelSpan.setAttributes({...fields, 'error.type': errorType});
	otelSpan.setStatus({code: SpanStatusCode.ERROR, message: errorMessage}).end();
}

type ErrorFields = {readonly errorType: string; readonly errorMessage: string};

/** What an error is, in a log. */
const errorFields = (error: unknown): ErrorFields => ({
	errorType: error instanceof BridgeError ? error.code : error instanceof Error ? error.name : typeof error,
	errorMessage: redactStart(error instanceof Error ? error.message : String(error), MAX_MESSAGE),
});
