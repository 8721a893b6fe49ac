import {join} from 'node:path';
import type {Options} from './options.js';
import {benchFolder, bridgeProgram, programPath} from './paths.js';
import {node, type Place, peer, type Target} from './target.js';

const ECHO = 'echo-server';

/** The client connects to a server of its own transport. */
const direct: Target = {
	name: 'direct',
	role: 'direct',
	path: '/',
	command: ({port, folder}) => [node, programPath(ECHO), folder, String(port)],
};

/** One of our own minimal programs: the lower bound of such a proxy. */
const limit = (name: string, rest: (place: Place) => string[]): Target => ({
	name,
	role: 'limit',
	command: place => [node, programPath(name), place.folder, ...rest(place)],
});

const sdkProxy = (rest: (place: Place) => string[]): Target =>
	peer('sdk-proxy', '@modelcontextprotocol/sdk', () => ({
		command: place => [node, programPath('sdk-proxy'), benchFolder, ...rest(place)],
	}));

// mcporter reads its servers from a file and runs all of them behind its own daemon.
const mcporter = (isUrl: boolean, rest: (place: Place) => string[]): Target =>
	peer('mcporter', 'mcporter', program => ({
		ownHome: true,
		files: ({server: [command, ...args], serverUrl: baseUrl}) => ({
			'mcporter.json': {
				mcpServers: {bench: {...(isUrl ? {baseUrl} : {command, args}), lifecycle: 'keep-alive'}},
				imports: [],
			},
		}),
		command: place => [
			node,
			program,
			'--config',
			join(place.folder, 'mcporter.json'),
			'serve',
			...rest(place),
		],
	}));

const gateway = (options: Options, name: string, service: (place: Place) => unknown): Target => ({
	name,
	role: 'ours',
	path: '/mcp/bench',
	files: place => ({
		'bridge.json': {listen: `127.0.0.1:${place.port}`, servers: {bench: service(place)}},
	}),
	command: ({folder}) => [
		...(options.bridge ?? [node, bridgeProgram]),
		'gateway',
		'--config',
		join(folder, 'bridge.json'),
	],
});

const behindHttp = (target: Target): Target => ({path: '/mcp', ...target});
const beforeHttp = (target: Target): Target => ({...target, isInFrontOfHttp: true});

/** HTTP in front of HTTP, in the order of the report. */
export const httpToHttp = (options: Options): Target[] => [
	direct,
	...[
		limit('reverse-proxy', ({port, serverUrl}) => [String(port), serverUrl]),
		sdkProxy(({port, serverUrl}) => ['--port', String(port), '--url', serverUrl]),
		mcporter(true, ({port}) => ['--http', String(port)]),
		gateway(options, 'bridge', ({serverUrl: url}) => ({url})),
	].map(target => beforeHttp(behindHttp(target))),
];

/** HTTP in front of stdio. `bridge` and the limit share one child; `bridge+children` has one per client. */
export const httpToStdio = (options: Options): Target[] => {
	const child = ({server: [command, ...args]}: Place): object => ({command, args});
	return [
		direct,
		...[
			limit('http-to-stdio', ({port, server}) => [String(port), '--', ...server]),
			sdkProxy(({port, server}) => ['--port', String(port), '--', ...server]),
			peer('mcp-proxy', 'mcp-proxy', program => ({
				command: ({port, server}) => [
					node,
					program,
					'--host',
					'127.0.0.1',
					'--port',
					String(port),
					'--server',
					'stream',
					'--',
					...server,
				],
			})),
			peer('supergateway', 'supergateway', program => ({
				command: ({port, server}) => [
					node,
					program,
					'--stdio',
					server.join(' '),
					'--outputTransport',
					'streamableHttp',
					'--stateful',
					'--port',
					String(port),
					'--logLevel',
					'none',
				],
			})),
			mcporter(false, ({port}) => ['--http', String(port)]),
			gateway(options, 'bridge', place => ({...child(place), shared: true})),
			gateway(options, 'bridge+children', child),
		].map(behindHttp),
	];
};

/** stdio in front of HTTP, in the order of the report. */
export const stdioToHttp = (options: Options): Target[] => [
	{name: 'direct', role: 'direct', command: ({server}) => server},
	...[
		limit('stdio-to-http', ({serverUrl}) => [serverUrl]),
		sdkProxy(({serverUrl}) => ['--url', serverUrl]),
		peer('mcp-remote', 'mcp-remote', program => ({
			ownHome: true,
			command: ({serverUrl}) => [
				node,
				program,
				serverUrl,
				'--allow-http',
				'--transport',
				'http-only',
				'--silent',
			],
		})),
		peer('supergateway', 'supergateway', program => ({
			command: ({serverUrl}) => [node, program, '--streamableHttp', serverUrl, '--logLevel', 'none'],
		})),
		mcporter(true, () => ['--stdio']),
		{
			name: 'bridge',
			role: 'ours' as const,
			command: ({serverUrl}: Place) => [...(options.bridge ?? [node, bridgeProgram]), '--url', serverUrl],
		},
	].map(beforeHttp),
];
