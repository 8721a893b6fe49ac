// The limit between HTTP and HTTP: a Node process that forwards requests without inspection. Usage: `node
// reverse-proxy.js FOLDER PORT URL`.

import {Agent, createServer, type IncomingHttpHeaders, request} from 'node:http';

const [, port = '', url = ''] = process.argv.slice(2);
const {hostname, port: serverPort, pathname} = new URL(url);
const agent = new Agent({keepAlive: true, maxSockets: 1024});

const without = (headers: IncomingHttpHeaders, ...names: string[]): IncomingHttpHeaders => {
	const kept = {...headers};
	for (const name of names) {
		delete kept[name];
	}
	return kept;
};

const server = createServer((req, res) => {
	const headers = without(req.headers, 'connection', 'host');
	const options = {host: hostname, port: serverPort, path: pathname, method: req.method, headers, agent};
	const upstream = request(options, response => {
		res.writeHead(response.statusCode ?? 502, without(response.headers, 'connection', 'keep-alive'));
		response.pipe(res);
	});
	upstream.on('error', () => res.destroy());
	req.pipe(upstream);
});
server.keepAliveTimeout = 120_000;
server.listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
