import {type Attack, exchange, type Ground, keepSending, openSession, postBytes, rpc} from './ground.js';

const line = `{"call":["nope","x",[],{}]}\\n`;
const flood = (seconds: number): string =>
	`import os,time; b=b'${line}'*2000; t=time.time()\nwhile time.time()-t<${seconds}: os.write(2,b)`;

/** Programs that flood the thread which serves all clients. */
const PROGRAMS = [
	flood(0.5),
	flood(6),
	'shared.echo.batch([1]*3000000)',
	'shared.echo.batch([{}]*1500000, return_errors=True)',
	`shared.echo.batch([${'{},'.repeat(300_000)}])`,
	'while True: pass',
	'x = []\nwhile True: x.append("x" * 1000000)',
	'import os\nwhile True: os.write(2, b"x" * 65536)',
	'while True: print("x" * 65536)',
	`${'('.repeat(50_000)}1${')'.repeat(50_000)}`,
];

const RUN_MS = 200;
const READ_MS = 500;

/** Maximum number of pending calls of a client: more than the hub runs concurrently. */
const PENDING = 8;

/** Sends calls to the hub in one session. */
async function callHub(ground: Ground, paceMs: number, callOf: (id: number) => string): Promise<void> {
	let session = openSession(ground, '/mcp');
	await keepSending(ground, {paceMs, limit: PENDING}, async id => {
		const used = session;
		const header = await used;
		if (header !== undefined) ground.count('requests');
		const bytes = postBytes('/mcp', callOf(id), [header ?? '', 'Connection: close']);
		const status = header && (await exchange(ground, bytes));
		// The session was rejected or has ended. Only one of the calls opens another.
		if ((header === undefined || status === '404') && session === used) session = openSession(ground, '/mcp');
	});
}

export const run: Attack = ground =>
	callHub(ground, RUN_MS, id => {
		const command = PROGRAMS[(id + ground.number * 5) % PROGRAMS.length];
		return rpc(id, 'tools/call', {name: 'run', arguments: {command}});
	});

/** Reads resources whose URIs are matched against the templates of all upstreams. */
export const template: Attack = ground =>
	callHub(ground, READ_MS, id => {
		const uri = `file:///${'abcdefgh/'.repeat(id % 100)}${ground.number}`;
		return rpc(id, 'resources/read', {uri});
	});
