import {createServer, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {ExecutionContext} from 'ava';
import type {RunningGateway} from '../../helpers/gateway.js';

export type ForwardedRequest = {
	readonly url: string;
	readonly headers: {readonly [name: string]: string};
	readonly body: Buffer;
};

export type Intermediary = {readonly address: string; readonly requests: readonly ForwardedRequest[]};

/** Starts an HTTP proxy in front of a replica that records requests and can change their bodies. */
export async function startIntermediary(
	t: ExecutionContext,
	target: () => RunningGateway,
	change = (body: Buffer): Buffer => body,
): Promise<Intermediary> {
	const requests: ForwardedRequest[] = [];
	const server = createServer(async (req, res) => {
		const request = await readRequest(req);
		requests.push(request);
		const response = await sendRequest(target(), {...request, body: change(request.body)});
		res.writeHead(response.status, Object.fromEntries(response.headers));
		res.end(Buffer.from(await response.arrayBuffer()));
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close());
	return {address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests};
}

async function readRequest(req: IncomingMessage): Promise<ForwardedRequest> {
	const chunks: Buffer[] = [];
	for await (const chunk of req) chunks.push(chunk);
	const {'transfer-encoding': _, connection: __, 'content-length': ___, host: ____, ...kept} = req.headers;
	const headers = Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, String(value)]));
	return {url: req.url ?? '', headers, body: Buffer.concat(chunks)};
}

export const sendRequest = (
	gateway: RunningGateway,
	{url, headers, body}: ForwardedRequest,
): Promise<Response> =>
	fetch(new URL(url, gateway.base), {method: 'POST', headers, body: new Uint8Array(body)});
