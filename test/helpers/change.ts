import {readFile} from 'node:fs/promises';
import type {GatewayConfig, RunningGateway} from './gateway.js';
import {logged, until} from './program.js';

/** Replaces the configuration of the gateway, and waits until it is loaded. */
export async function change(gateway: RunningGateway, config: GatewayConfig): Promise<void> {
	const {length: before} = logged(gateway.running, 'config.loaded');
	await gateway.configure(config);
	await until(() => logged(gateway.running, 'config.loaded').length > before);
}

export async function alter(gateway: RunningGateway, some: GatewayConfig): Promise<void> {
	await change(gateway, {...JSON.parse(await readFile(gateway.file, 'utf8')), ...some});
}
