import {realpath} from 'node:fs/promises';
import {createRequire} from 'node:module';
import process from 'node:process';
import {pathToFileURL} from 'node:url';
import {trace} from '@opentelemetry/api';
import type {Log} from '../../lib/core/log.js';

/**
 * The package that configures OpenTelemetry from environment variables. It is large and therefore optional.
 */
const SDK = '@opentelemetry/sdk-node';

type Sdk = {readonly NodeSDK: new () => {start(): void; shutdown(): Promise<void>}};
type Environment = {readonly [name: string]: string | undefined};

/**
 * Exports spans if OTEL_TRACES_EXPORTER or the address of a collector is set. Resolves once the export is
 * configured, to a function that flushes the last spans.
 */
export async function startTelemetry(log: Log, env: Environment = process.env): Promise<() => Promise<void>> {
	const nothing = async (): Promise<void> => {};
	if (!isTracingRequested(env) || hasTracerProvider()) return nothing;
	try {
		// Hides the import from the bundler. Resolves links, since packages behind links find their
		// dependencies only from their real path.
		const file = await realpath(createRequire(import.meta.url).resolve(SDK));
		const {NodeSDK} = (await import(pathToFileURL(file).href)) as Sdk;
		process.env.OTEL_SERVICE_NAME ??= 'bridge';
		const sdk = new NodeSDK();
		sdk.start();
		return () => sdk.shutdown().catch(error => logFailure(log, 'The last traces could not be sent', error));
	} catch (error) {
		logFailure(
			log,
			`OTEL_* variables enable traces, but ${SDK} cannot be loaded. Run npm install ${SDK} next to bridge`,
			error,
		);
		return nothing;
	}
}

/** Returns whether the variables enable traces. */
export function isTracingRequested(env: Environment): boolean {
	if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false;
	const names = ['OTEL_TRACES_EXPORTER', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
	return names.some(name => (env[name] ?? '') !== '');
}

/** Returns whether a tracer provider is already registered, for example by `node --import`. */
function hasTracerProvider(): boolean {
	const probe = trace.getTracer('bridge').startSpan('bridge.probe');
	const isRecording = probe.isRecording();
	probe.end();
	return isRecording;
}

const logFailure = (log: Log, sentence: string, error: unknown): void =>
	log.warn('telemetry.failed', `${sentence}.`, {reason: (error as Error).message.split('\n')[0] ?? ''});
