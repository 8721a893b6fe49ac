import {Counter, collectDefaultMetrics, Gauge, Histogram, Registry} from 'prom-client';

type MetricsSources = {
	readonly sessions: () => number;
	readonly children: () => number;
	readonly cacheHits: () => number;
	readonly cacheMisses: () => number;
	readonly droppedLogLines: () => number;
	readonly resumed: () => number;
	readonly forwarded: () => number;
	readonly forwardFailures: () => number;
};

/**
 * The Prometheus metrics. Labels contain only names of the configuration and of HTTP, so their number is
 * bounded.
 */
export class GatewayMetrics {
	readonly #registry = new Registry();
	readonly #requests: Counter<'service' | 'method' | 'status'>;
	readonly #latency: Histogram<'service'>;

	constructor(sources: MetricsSources) {
		const registers = [this.#registry];
		collectDefaultMetrics({register: this.#registry, prefix: 'bridge_'});
		this.#requests = new Counter({
			name: 'bridge_http_requests_total',
			help: 'HTTP requests, by service, method and status',
			labelNames: ['service', 'method', 'status'],
			registers,
		});
		this.#latency = new Histogram({
			name: 'bridge_http_request_duration_seconds',
			help: 'Time from the head of a POST to the end of its response',
			labelNames: ['service'],
			buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
			registers,
		});
		const gauge = (name: string, help: string, read: () => number): Gauge =>
			new Gauge({
				name,
				help,
				registers,
				collect() {
					this.set(read());
				},
			});
		for (const [key, name, help] of gauges) gauge(name, help, sources[key]);
	}

	get contentType(): string {
		return this.#registry.contentType;
	}

	/** Counts a completed request. `service` is the name of a configured service, or undefined. */
	countRequest(service: string | undefined, method: string, status: number, seconds: number): void {
		const name = service ?? 'none';
		this.#requests.inc({service: name, method: knownMethods.has(method) ? method : 'other', status});
		if (method === 'POST') this.#latency.observe({service: name}, seconds);
	}

	text(): Promise<string> {
		return this.#registry.metrics();
	}
}

const gauges: ReadonlyArray<readonly [key: keyof MetricsSources, name: string, help: string]> = [
	['sessions', 'bridge_sessions', 'Open client sessions'],
	['children', 'bridge_children', 'MCP servers that run as child processes'],
	['cacheHits', 'bridge_tools_cache_hits', 'tools/list requests served from the cache'],
	['cacheMisses', 'bridge_tools_cache_misses', 'tools/list requests that missed the cache'],
	['droppedLogLines', 'bridge_log_dropped_lines', 'Lines dropped from the traffic log'],
	['resumed', 'bridge_sessions_resumed', 'Sessions of other replicas that were resumed here'],
	['forwarded', 'bridge_requests_forwarded', 'Requests forwarded to the replicas that own their sessions'],
	['forwardFailures', 'bridge_requests_forward_failures', 'Forwarded requests that failed'],
];

const knownMethods: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE']);
