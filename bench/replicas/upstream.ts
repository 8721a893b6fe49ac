import {createServer, type Server} from 'node:net';
import {responseTo} from '../programs/echo.js';

const HEAD_END = '\r\n\r\n';
const NOTHING = 'content-length: 0\r\n\r\n';

/**
 * An MCP server on bare sockets, which leaves most of the two cores to the replicas. Requests must be
 * ASCII with a Content-Length, like those of the gateway here.
 */
export const bareServer = async (): Promise<{server: Server; url: string}> => {
	const server = createServer(socket => {
		let text = '';
		socket.setNoDelay(true).on('error', () => {});
		socket.on('data', chunk => {
			text += chunk.toString('latin1');
			for (let end = endOf(text); end !== undefined; end = endOf(text)) {
				socket.write(httpResponseTo(text.slice(0, end)), 'latin1');
				text = text.slice(end);
			}
		});
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	const address = server.address();
	const port = typeof address === 'object' && address !== null ? address.port : 0;
	return {server, url: `http://127.0.0.1:${port}/mcp`};
};

/** The end of the first request in the text, if it is complete. */
const endOf = (text: string): number | undefined => {
	const head = text.indexOf(HEAD_END);
	if (head < 0) return;
	const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head))?.[1];
	const end = head + HEAD_END.length + Number(length ?? 0);
	return text.length < end ? undefined : end;
};

const httpResponseTo = (request: string): string => {
	if (!request.startsWith('POST'))
		return `HTTP/1.1 ${request.startsWith('DELETE') ? '200 OK' : '405 Method Not Allowed'}\r\n${NOTHING}`;
	const message = request.slice(request.indexOf(HEAD_END) + HEAD_END.length);
	const response = responseTo(message);
	if (response === undefined) return `HTTP/1.1 202 Accepted\r\n${NOTHING}`;
	const session = message.includes('"initialize"') ? 'mcp-session-id: bench\r\n' : '';
	return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${session}content-length: ${response.length}${HEAD_END}${response}`;
};
