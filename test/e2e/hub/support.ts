import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {ExecutionContext} from 'ava';
import {type Message, type Running, type StartOptions, startBridge, VERSION} from '../../helpers/bridge.js';
import {type GatewayConfig, program} from '../../helpers/gateway.js';
import {newFolder, newMarker} from '../../helpers/program.js';

export type {GatewayConfig} from '../../helpers/gateway.js';
export {logged} from '../../helpers/program.js';

/** A server of tools, under this name. */
export const shop = (name: string, ...args: string[]): GatewayConfig =>
	program('shop', `--name=${name}`, ...args);

export type HubOptions = StartOptions & {
	/** What the client can do. */
	readonly capabilities?: Message;
	readonly version?: string;
	/** More flags. */
	readonly args?: readonly string[];
};

/** A hub that runs as a program, with its configuration in a file of its own. */
export type RunningHub = {
	readonly running: Running;
	readonly file: string;
	/** A word on the command lines of all its servers that want it. */
	readonly marker: string;
	/** What the hub answered to initialize. */
	readonly welcome: Message;
	configure(config: GatewayConfig): Promise<void>;
	/** Calls a tool, and resolves to the answer. */
	call(name: string, args?: Message): Promise<Message>;
	/** Asks something, and resolves to the answer. */
	ask(method: string, params?: Message): Promise<Message>;
	toolNames(): Promise<string[]>;
};

/** Starts `bridge hub`, for no longer than the test lasts, and shakes hands with it. */
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

/** The names in an answer with a list. */
export function namesIn({result}: Message, member: string): string[] {
	const list = (result as {readonly [name: string]: unknown} | undefined)?.[member];
	return (list as Array<{readonly name: string}>).map(({name}) => name);
}

/** The text of a tool's answer. */
export function textIn({result}: Message): string {
	const {content} = result as {readonly content: ReadonlyArray<{readonly text?: string}>};
	return content.map(({text = ''}) => text).join('\n');
}

/** The message of an answer's error. */
export const errorIn = ({error}: Message): {readonly code: number; readonly message: string} =>
	error as {readonly code: number; readonly message: string};
