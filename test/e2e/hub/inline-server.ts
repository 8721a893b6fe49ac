import process from 'node:process';
import {stdinMessages} from '../../helpers/ndjson.js';
import type {GatewayConfig} from './support.js';

const start = `
const send = message => process.stdout.write(JSON.stringify({jsonrpc: '2.0', ...message}) + '\\n');
const capabilities = {tools: {listChanged: true}, resources: {listChanged: true}};
const schema = {type: 'object'};
const methods = {
	initialize: ({protocolVersion}) => ({protocolVersion, capabilities, serverInfo: {name: 'inline', version: '1'}}),
	ping: () => ({}),
	'tools/list': () => ({tools: [{name: 'act', inputSchema: schema}]}),
	'resources/list': () => ({resources: []}),
	'resources/templates/list': () => ({resourceTemplates: []}),
};
const hooks = {response() {}, connected() {}};
${stdinMessages}.on('data', ({id, method, params, error}) => {
	if (method === 'notifications/initialized') hooks.connected();
	if (id === undefined) return;
	if (method === undefined) return hooks.response({id, error});
	const result = methods[method]?.(params, id);
	if (result !== undefined) send({id, result});
});
`;

/**
 * An MCP server with one tool, `act`, and no resources. The script overrides `methods`, which return a result,
 * or undefined for no response, and `hooks`. It can call `send` with any message.
 */
export const inlineServer = (script: string): GatewayConfig => ({
	command: process.execPath,
	args: ['-e', `${start}\n${script}`],
});
