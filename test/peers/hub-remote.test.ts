import test, {type ExecutionContext} from 'ava';
import {freePort} from '../helpers/free-port.js';
import {startRealHub, until} from './hub.js';
import {type Listening, startListening} from './listening.js';
import {serverFile} from './peers.js';

/* A hub in front of a real HTTP server that starts late and restarts. */

const startRemote = (t: ExecutionContext, kind: string, port: number): Promise<Listening> =>
	startListening(
		t,
		{command: process.execPath, args: [serverFile('everything'), kind], env: {PORT: String(port)}},
		new RegExp(`(${port})`),
	);

for (const [kind, transport, path] of [
	['streamableHttp', 'http', 'mcp'],
	['sse', 'sse', 'sse'],
] as const)
	test.serial(`connects to a late upstream over ${kind}, and reconnects after its restart`, async t => {
		const port = await freePort();
		const far = {url: `http://127.0.0.1:${port}/${path}`, transport};
		const hub = await startRealHub(t, () => ({servers: {far}}));
		const echo = (): ReturnType<typeof hub.run> => hub.run('far.echo(message="x")');
		t.regex((await echo()).text, /Server 'far' unavailable: .*the connection was refused/);
		const first = await startRemote(t, kind, port);
		await until(async () => (await echo()).text === 'Echo: x');
		await first.stop('SIGKILL');
		await until(async () => /Server 'far' unavailable: /.test((await echo()).text));
		await startRemote(t, kind, port);
		await until(async () => (await echo()).text === 'Echo: x');
	});
