import {realpath} from 'node:fs/promises';
import {createRequire} from 'node:module';
import process from 'node:process';
import {pathToFileURL} from 'node:url';
import {trace} from '@opentelemetry/api';
import type {Log} from '../../lib/core/log.js';

/** What sets OpenTelemetry up by its own variables. It is big, and so only there where somebody wants it. */
const SDK = '@opentelemetry/sdk-node';

type Sdk = {readonly NodeSDK: new () => {start(): void; shutdown(): Promise<void>}};
type Environment = {readonly [name: string]: string | undefined};

/**
 * Exports spans if the standard variables say so: OTEL_TRACES_EXPORTER, or the address of a collector. Resolves when that is
 * set up, with what sends the last of them.
 */
export async function startTelemetry(log: Log, env: Environment = process.env): Promise<() => Promise<void>> {
	const nothing = async (): Promise<void> => {};
	if (!isTracingRequested(env) || hasTracerProvider()) return nothing;
	try {
		// Not known to the bundler, which would have to find it. Some installers make links of packages, which find what they
		// need themselves only from where they really are.
		const file = await realpath(createRequire(import.meta.url).resolve(SDK));
		const {NodeSDK} = (await import(pathToFileURL(file).href)) as Sdk;
		process.env.OTEL_SERVICE_NAME ??= 'bridge';
		const sdk = new NodeSDK();
		sdk.start();
		return () => sdk.shutdown().catch(error => logFailure(log, 'The last traces could not be sent', error));
	} catch (error) {
		logFailure(
			log,
			`Traces are wanted by OTEL_* variables, and ${SDK} cannot be loaded: npm install ${SDK} next to bridge`,
			error,
		);
		return nothing;
	}
}

/** Whether the variables ask for traces. */
export function isTracingRequested(env: Environment): boolean {
	if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false;
	const names = ['OTEL_TRACES_EXPORTER', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
	return names.some(name => (env[name] ?? '') !== '');
}

/** Whether somebody has done so already, as with `node --import`. */
function hasTracerProvider(): boolean {
	const probe = trace.getTracer('bridge').startSpan('bridge.probe');
	const isRecording = probe.isRecording();
	probe.end();
	return isRecording;
}

const logFailure = (log: Log, sentence: string, error: unknown): void =>
	log.warn('telemetry.failed', `${sentence}.`, {reason: (error as Error).message.split('\n')[0] ?? ''});
