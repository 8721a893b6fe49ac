import {createServer} from 'node:net';
import {request} from 'undici';
import {type Listen, listenText} from '../config/listen.js';
import {type SocketState, socketState} from '../http/unix-socket.js';
import {error, type Finding, info, ok} from './finding.js';

const TIMEOUT_MS = 2000;

/** Whether the gateway could listen on its address, or does so already. Without a configuration, a taken address is not a mistake. */
export async function lookAtGateway(listen: Listen, isConfigured: boolean): Promise<Finding[]> {
	const about = 'Gateway';
	const where = listenText(listen);
	if (listen.path !== undefined) return [lookAtSocket(where, await socketState(listen.path))];
	const reason = await cannotListen(listen);
	if (reason === undefined) return [ok(about, `${where} is free`)];
	if (reason === 'EADDRINUSE' && (await isGateway(where))) return [ok(about, `one is running on ${where}`)];
	const text =
		reason === 'EADDRINUSE' ? `another program has ${where}` : `nobody can listen on ${where}: ${reason}`;
	if (!isConfigured) return [info(about, `${text}, and no gateway is configured`)];
	return [error(about, text, 'End that program, or write another address to listen into the configuration.')];
}

function lookAtSocket(where: string, state: SocketState): Finding {
	if (state === 'not a socket')
		return error('Gateway', `${where} is a file that is not a socket`, 'Remove it, or name another path.');
	return ok('Gateway', state === 'in use' ? `one is running on ${where}` : `${where} is free`);
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
