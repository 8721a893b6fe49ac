import {Counter, Gauge, Registry} from 'prom-client';
import {Guard} from '../http/guard.js';
import {refuse} from '../http/refuse.js';
import {addressOf, listen} from '../http/server.js';
import {type Log, logBug} from '../log.js';
import type {Figures} from './figures.js';

/** What is told of mail. */
export type MailReading = {readonly figures: Figures; pending(): Promise<number>};

const helps: {readonly [name in keyof Figures]: string} = {
	turns: 'Turns that mail has started',
	delivered: 'Messages that sessions have got',
	redelivered: 'Messages among them that had been tried before',
	parked: 'Messages that are not tried any more',
	notices: 'Messages that were only marked as read',
};

/** The figures of mail for Prometheus, at `/metrics` of this port on the loopback interface. Returns the address. */
export async function serveMailMetrics(reading: MailReading, port: number, log: Log): Promise<string> {
	const registry = registryOf(reading);
	const guard = new Guard({hosts: [], origins: [], tokens: []});
	const server = await listen({
		host: '127.0.0.1',
		port,
		addressRemedy: 'Use another one: metrics_port in the configuration.',
		onBug: error => logBug(log, error),
		async handle(req, res) {
			const refusal = guard.refusal(req);
			if (refusal) return refuse(res, refusal);
			if (req.url !== '/metrics') return refuse(res, {status: 404, message: 'There is /metrics only'});
			if (req.method !== 'GET')
				return refuse(res, {status: 405, message: 'GET only', headers: {allow: 'GET'}});
			res.writeHead(200, {'content-type': registry.contentType}).end(await registry.metrics());
		},
	});
	// It ends with all else.
	server.unref();
	return `http://127.0.0.1:${addressOf(server).port}/metrics`;
}

function registryOf(reading: MailReading): Registry {
	const {figures} = reading;
	const registry = new Registry();
	const registers = [registry];
	for (const name of Object.keys(helps) as Array<keyof Figures>)
		new Counter({
			name: `bridge_mail_${name}_total`,
			help: helps[name],
			registers,
			collect() {
				this.reset();
				this.inc(figures[name]);
			},
		});
	new Gauge({
		name: 'bridge_mail_pending',
		help: 'Messages of active sessions that are not read',
		registers,
		async collect() {
			this.set(await reading.pending());
		},
	});
	return registry;
}
