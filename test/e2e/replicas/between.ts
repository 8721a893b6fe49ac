import {createServer, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {ExecutionContext} from 'ava';
import type {RunningGateway} from '../../helpers/gateway.js';

/** A request that went by. */
export type Overheard = {
	readonly url: string;
	readonly headers: {readonly [name: string]: string};
	readonly body: Buffer;
};

/** Somebody between replicas, who hears all that is handed to one of them, and may change what it is asked. */
export type Between = {readonly address: string; readonly overheard: readonly Overheard[]};

export async function standBetween(
	t: ExecutionContext,
	target: () => RunningGateway,
	change = (body: Buffer): Buffer => body,
): Promise<Between> {
	const overheard: Overheard[] = [];
	const server = createServer(async (req, res) => {
		const heard = await hear(req);
		overheard.push(heard);
		const answer = await say(target(), {...heard, body: change(heard.body)});
		res.writeHead(answer.status, Object.fromEntries(answer.headers));
		res.end(Buffer.from(await answer.arrayBuffer()));
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close());
	return {address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, overheard};
}

async function hear(req: IncomingMessage): Promise<Overheard> {
	const chunks: Buffer[] = [];
	for await (const chunk of req) chunks.push(chunk);
	const {'transfer-encoding': _, connection: __, 'content-length': ___, host: ____, ...kept} = req.headers;
	const headers = Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, String(value)]));
	return {url: req.url ?? '', headers, body: Buffer.concat(chunks)};
}

/** Says to a replica what was overheard. */
export const say = (gateway: RunningGateway, {url, headers, body}: Overheard): Promise<Response> =>
	fetch(new URL(url, gateway.base), {method: 'POST', headers, body: new Uint8Array(body)});
