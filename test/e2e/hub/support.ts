import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {ExecutionContext} from 'ava';
import {type Message, type Running, type StartOptions, startBridge, VERSION} from '../../helpers/bridge.js';
import {type GatewayConfig, program} from '../../helpers/gateway.js';
import {newFolder, newMarker} from '../../helpers/program.js';

export type {GatewayConfig} from '../../helpers/gateway.js';
export {logged} from '../../helpers/program.js';

export const shop = (name: string, ...args: string[]): GatewayConfig =>
	program('shop', `--name=${name}`, ...args);

export type HubOptions = StartOptions & {
	readonly capabilities?: Message;
	readonly version?: string;
	/** Further command-line flags. */
	readonly args?: readonly string[];
};

/** A `bridge hub` process with its own configuration file. */
export type RunningHub = {
	readonly running: Running;
	readonly file: string;
	/** A unique word that a configuration can add to command lines, to find its children. */
	readonly marker: string;
	/** The response to initialize. */
	readonly welcome: Message;
	configure(config: GatewayConfig): Promise<void>;
	/** Calls a tool and returns the response. */
	call(name: string, args?: Message): Promise<Message>;
	/** Sends a request and returns the response. */
	ask(method: string, params?: Message): Promise<Message>;
	toolNames(): Promise<string[]>;
};

/** Starts and initializes `bridge hub`, and kills it after the test. */
export async function startHub(
	t: ExecutionContext,
	config: GatewayConfig | ((marker: string) => GatewayConfig),
	{capabilities = {}, version = VERSION, args: flags = [], ...options}: HubOptions = {},
): Promise<RunningHub> {
	const file = join(await newFolder(t), 'bridge.json');
	const marker = newMarker(t);
	const configure = (next: GatewayConfig): Promise<void> => writeFile(file, JSON.stringify(next));
	await configure(typeof config === 'function' ? config(marker) : config);
	const running = startBridge(['hub', '--config', file, ...flags], options);
	t.teardown(() => running.child.kill('SIGKILL'));
	let ids = 0;
	const ask = (method: string, params: Message = {}): Promise<Message> =>
		running.request(`ask-${++ids}`, method, params);
	const clientInfo = {name: 'test', version: '1'};
	const welcome = await ask('initialize', {protocolVersion: version, capabilities, clientInfo});
	running.send({method: 'notifications/initialized'});
	return {
		running,
		file,
		marker,
		welcome,
		configure,
		ask,
		call: (name, args = {}) => ask('tools/call', {name, arguments: args}),
		toolNames: async () => namesIn(await ask('tools/list'), 'tools'),
	};
}

/** The names in the list of a response. */
export function namesIn({result}: Message, member: string): string[] {
	const list = (result as {readonly [name: string]: unknown} | undefined)?.[member];
	return (list as Array<{readonly name: string}>).map(({name}) => name);
}

/** The text of a tool result. */
export function textIn({result}: Message): string {
	const {content} = result as {readonly content: ReadonlyArray<{readonly text?: string}>};
	return content.map(({text = ''}) => text).join('\n');
}

export const errorIn = ({error}: Message): {readonly code: number; readonly message: string} =>
	error as {readonly code: number; readonly message: string};
