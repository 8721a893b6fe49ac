import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {freePort} from '../free-port.js';
import {listening} from '../http-client.js';
import {bridgeProgram, programPath} from '../paths.js';
import {Program} from '../program.js';
import {bareServer} from './upstream.js';

export type Running = {readonly port: number; readonly pid: number};

const POLL_MS = 50;
const example = fileURLToPath(new URL('../../../deploy/haproxy.cfg', import.meta.url));

/** The folder and the processes of gateways and balancers, until it is closed. */
export class Place {
	readonly #folder = mkdtempSync(join(tmpdir(), 'bridge-bench-replicas-'));
	readonly #programs: Program[] = [];
	readonly #upstream = bareServer();

	/** Starts a gateway with an HTTP upstream, `remote`, and a shared child, `local`. */
	async gateway(more: (port: number) => object): Promise<Running> {
		const port = await freePort();
		const {url} = await this.#upstream;
		const args = [programPath('echo-server'), this.#folder];
		const servers = {
			remote: {url, transport: 'http'},
			local: {command: process.execPath, args, shared: true},
		};
		const config = this.#write(
			`${port}.json`,
			JSON.stringify({listen: `127.0.0.1:${port}`, servers, ...more(port)}),
		);
		return this.#start(port, [process.execPath, bridgeProgram, 'gateway', '--config', config]);
	}

	/** Starts a replica that others can reach. */
	replica(secret: string): Promise<Running> {
		return this.gateway(port => ({secret, advertise: `http://127.0.0.1:${port}`}));
	}

	/**
	 * Starts HAProxy with the example in `deploy`, with sticky sessions if requested. It has one thread,
	 * as if it ran on another machine.
	 */
	async balancer(replicas: readonly Running[], isSticky = false): Promise<Running> {
		const port = await freePort();
		const servers = replicas.map((replica, n) => `\tserver bridge-${n} 127.0.0.1:${replica.port}`);
		const text = readFileSync(example, 'utf8')
			.replace(/^\t#stick/gm, isSticky ? '\tstick' : '$&')
			.replace('maxconn 4096', 'maxconn 4096\n\tnbthread 1')
			.replace('bind :7411', `bind 127.0.0.1:${port}`)
			.replace(/^\tserver [\s\S]+$/m, `${servers.join('\n')}\n`);
		const running = await this.#start(port, ['haproxy', '-q', '-db', '-f', this.#write(`${port}.cfg`, text)]);
		const isUp = (): Promise<boolean> =>
			fetch(`http://127.0.0.1:${port}/healthz`).then(
				({ok}) => ok,
				() => false,
			);
		while (!(await isUp())) await sleep(POLL_MS);
		return running;
	}

	#write(name: string, text: string): string {
		const path = join(this.#folder, name);
		writeFileSync(path, text);
		return path;
	}

	async #start(port: number, command: string[]): Promise<Running> {
		let failure: Error | undefined;
		const program = new Program(command, this.#folder, {...process.env, BRIDGE_TOKEN: 'none'}, error => {
			failure = error;
		});
		program.child.stdout?.resume();
		this.#programs.push(program);
		await listening(port, () => failure === undefined);
		if (failure) throw failure;
		return {port, pid: program.pid};
	}

	async close(): Promise<void> {
		for (const {child} of this.#programs) child.kill('SIGKILL');
		(await this.#upstream).server.close();
		rmSync(this.#folder, {recursive: true, force: true});
	}
}
