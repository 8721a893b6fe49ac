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

/** What a monitoring system reads. Labels only ever hold names of the configuration and of HTTP. */
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
			help: 'Time from the head of a POST to the end of its answer',
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

	/** A request was answered. `service` is one of the configuration, or nothing. */
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
	['sessions', 'bridge_sessions', 'Sessions of clients'],
	['children', 'bridge_children', 'Servers that run as child processes'],
	['cacheHits', 'bridge_tools_cache_hits', 'tools/list answered from the cache'],
	['cacheMisses', 'bridge_tools_cache_misses', 'tools/list that the cache could not answer'],
	['droppedLogLines', 'bridge_log_dropped_lines', 'Lines of the traffic log that were left out'],
	['resumed', 'bridge_sessions_resumed', 'Sessions of other replicas that were carried on here'],
	['forwarded', 'bridge_requests_forwarded', 'Requests handed to the replicas that have their sessions'],
	['forwardFailures', 'bridge_requests_forward_failures', 'Those of them that no replica answered'],
];

const knownMethods: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE']);
