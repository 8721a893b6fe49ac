import {createServer} from 'node:net';
import {request} from 'undici';
import {type Listen, listenText} from '../config/listen.js';
import {error, type Finding, ok} from './finding.js';

const TIMEOUT_MS = 2000;

/** Whether the gateway could listen where it is to, or does so already. */
export async function lookAtGateway(listen: Listen): Promise<Finding[]> {
	const about = 'Gateway';
	const where = listenText(listen);
	const reason = await cannotListen(listen);
	if (reason === undefined) return [ok(about, `${where} is free`)];
	if (reason === 'EADDRINUSE' && (await isGateway(where))) return [ok(about, `one is running on ${where}`)];
	const text =
		reason === 'EADDRINUSE' ? `another program has ${where}` : `nobody can listen on ${where}: ${reason}`;
	return [error(about, text, 'End that program, or write another address to listen into the configuration.')];
}

const cannotListen = ({host, port}: Listen): Promise<string | undefined> =>
	new Promise(resolve => {
		const server = createServer();
		server.once('error', ({code, message}: NodeJS.ErrnoException) => resolve(code ?? message));
		server.listen(port, host, () => server.close(() => resolve(undefined)));
	});

async function isGateway(where: string): Promise<boolean> {
	try {
		const limits = {
			headersTimeout: TIMEOUT_MS,
			bodyTimeout: TIMEOUT_MS,
			signal: AbortSignal.timeout(TIMEOUT_MS),
		};
		const {statusCode, body} = await request(`http://${where}/healthz`, limits);
		await body.dump();
		return statusCode === 200;
	} catch {
		return false;
	}
}
