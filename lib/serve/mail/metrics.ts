import {Counter, Gauge, Registry} from 'prom-client';
import {type Log, logBug} from '../../core/log.js';
import {Guard} from '../../http/guard.js';
import {sendHttpError} from '../../http/http-error.js';
import {addressOf, listenHttp} from '../../http/server.js';
import type {MailCounters} from './counters.js';

export type MailMetricsSource = {readonly counters: MailCounters; pending(): Promise<number>};

const helpTexts: {readonly [name in keyof MailCounters]: string} = {
	turns: 'Turns started by mail',
	delivered: 'Messages delivered to sessions',
	redelivered: 'Delivered messages with an earlier delivery attempt',
	parked: 'Messages that failed too often and are no longer retried',
	notices: 'Messages that were only marked as read',
};

/**
 * Serves the mail metrics for Prometheus at `/metrics` of this port on the loopback interface. Returns the
 * URL.
 */
export async function serveMailMetrics(source: MailMetricsSource, port: number, log: Log): Promise<string> {
	const registry = createRegistry(source);
	const guard = new Guard({hosts: [], origins: [], tokens: []});
	const server = await listenHttp({
		host: '127.0.0.1',
		port,
		addressRemedy: 'Set another port with metrics_port in the configuration.',
		onBug: error => logBug(log, error),
		async handle(req, res) {
			const httpError = guard.validate(req);
			if (httpError) return sendHttpError(res, httpError);
			if (req.url !== '/metrics') return sendHttpError(res, {status: 404, message: 'Only /metrics exists'});
			if (req.method !== 'GET')
				return sendHttpError(res, {status: 405, message: 'Only GET is supported', headers: {allow: 'GET'}});
			res.writeHead(200, {'content-type': registry.contentType}).end(await registry.metrics());
		},
	});
	// The server does not keep the process running.
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
		help: 'Unread messages of active sessions',
		registers,
		async collect() {
			this.set(await source.pending());
		},
	});
	return registry;
}
