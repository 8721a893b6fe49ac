import {Agent, request as httpRequest} from 'node:http';
import type {RunningGateway} from '../../helpers/gateway.js';
import {initialize} from '../../helpers/raw-requests.js';

/** Starts this many sessions and abandons them. Resolves with the HTTP statuses of the replies. */
export async function beginMany(gateway: RunningGateway, count: number): Promise<Set<number | undefined>> {
	const agent = new Agent({keepAlive: true, maxSockets: 16});
	const statuses = new Set<number | undefined>();
	const headers = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};
	const begin = (): Promise<void> =>
		new Promise((resolve, reject) => {
			const {port} = gateway;
			const request = httpRequest({
				agent,
				port,
				host: '127.0.0.1',
				path: '/mcp/puppet',
				method: 'POST',
				headers,
			});
			request.once('error', reject).once('response', response => {
				statuses.add(response.statusCode);
				response.resume().once('end', resolve);
			});
			request.end(initialize);
		});
	let left = count;
	const work = async (): Promise<void> => {
		while (left-- > 0) await begin();
	};
	await Promise.all(Array.from({length: 16}, work));
	agent.destroy();
	return statuses;
}
