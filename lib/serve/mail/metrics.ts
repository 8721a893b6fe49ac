import {Counter, Gauge, Registry} from 'prom-client';
import {type Log, logBug} from '../../core/log.js';
import {Guard} from '../../http/guard.js';
import {sendHttpError} from '../../http/http-error.js';
import {addressOf, listenHttp} from '../../http/server.js';
import type {MailCounters} from './counters.js';

/** What is told of mail. */
export type MailMetricsSource = {readonly counters: MailCounters; pending(): Promise<number>};

const helpTexts: {readonly [name in keyof MailCounters]: string} = {
	turns: 'Turns that mail has started',
	delivered: 'Messages that sessions have got',
	redelivered: 'Messages among them that had been tried before',
	parked: 'Messages that are not tried any more',
	notices: 'Messages that were only marked as read',
};

/** The figures of mail for Prometheus, at `/metrics` of this port on the loopback interface. Returns the address. */
export async function serveMailMetrics(source: MailMetricsSource, port: number, log: Log): Promise<string> {
	const registry = createRegistry(source);
	const guard = new Guard({hosts: [], origins: [], tokens: []});
	const server = await listenHttp({
		host: '127.0.0.1',
		port,
		addressRemedy: 'Use another one: metrics_port in the configuration.',
		onBug: error => logBug(log, error),
		async handle(req, res) {
			const httpError = guard.validate(req);
			if (httpError) return sendHttpError(res, httpError);
			if (req.url !== '/metrics') return sendHttpError(res, {status: 404, message: 'There is /metrics only'});
			if (req.method !== 'GET')
				return sendHttpError(res, {status: 405, message: 'GET only', headers: {allow: 'GET'}});
			res.writeHead(200, {'content-type': registry.contentType}).end(await registry.metrics());
		},
	});
	// It ends with all else.
	server.unref();
	return `http://127.0.0.1:${addressOf(server).port}/metrics`;
}

function createRegistry(source: MailMetricsSource): Registry {
	const {counters} = source;
	const registry = new Registry();
	const registers = [registry];
	for (const name of Object.keys(helpTexts) as Array<keyof MailCounters>)
		new Counter({
			name: `bridge_mail_${name}_total`,
			help: helpTexts[name],
			registers,
			collect() {
				this.reset();
				this.inc(counters[name]);
			},
		});
	new Gauge({
		name: 'bridge_mail_pending',
		help: 'Messages of active sessions that are not read',
		registers,
		async collect() {
			this.set(await source.pending());
		},
	});
	return registry;
}
