import {performance} from 'node:perf_hooks';
import {context, type Span as OtelSpan, propagation, SpanStatusCode, trace} from '@opentelemetry/api';
import {BridgeError} from './errors.js';
import type {Log} from './log.js';
import {redactStart} from './redact.js';

export type SpanFields = {readonly [key: string]: string | number | boolean};

/** A trace context as in messages: `traceparent` and `tracestate`. */
export type TraceContext = {readonly [name: string]: unknown};

/** An operation with a duration that is logged when it succeeds or fails. */
export type TracedSpan = {
	succeed(sentence: string, fields?: SpanFields): void;
	fail(sentence: string, error: unknown, fields?: SpanFields): void;
	/** The context to send to the next program. Empty if tracing is disabled. */
	readonly traceContext: TraceContext;
};

/** The maximum length of an error message in the log. */
const MAX_MESSAGE = 300;

/**
 * Starts a span. Its end logs one entry, with the name as the event, the duration and the status. If
 * OpenTelemetry is set up, it is also an OpenTelemetry span with the parent `parent`.
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
			const errorInfo = errorFields(error);
			log.warn(name, sentence, {...fields, ...more, duration: duration(), status: 'FAILED', ...errorInfo});
			endFailed(otelSpan, more, errorInfo);
		},
	};
}

function endFailed(otelSpan: OtelSpan, fields: SpanFields, {errorType, errorMessage}: ErrorFields): void {
	otelSpan.setAttributes({...fields, 'error.type': errorType});
	otelSpan.setStatus({code: SpanStatusCode.ERROR, message: errorMessage}).end();
}

type ErrorFields = {readonly errorType: string; readonly errorMessage: string};

const errorFields = (error: unknown): ErrorFields => ({
	errorType: error instanceof BridgeError ? error.code : error instanceof Error ? error.name : typeof error,
	errorMessage: redactStart(error instanceof Error ? error.message : String(error), MAX_MESSAGE),
});
