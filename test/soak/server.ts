// A stdio upstream of the soak: node server.js FOLDER [--seed=N --exit-one-in=N] [--trap]
// With --exit-one-in it exits instead of responding to one call in N, chosen by seed and payload. With --trap it lists
// resource templates that take exponential time where they are matched by backtracking.

import process from 'node:process';
import split2 from 'split2';
import {responseTo} from '../../bench/programs/echo.js';
import {randomOf} from './random.js';

const args = process.argv.slice(2);
const option = (name: string): string | undefined =>
	args.find(arg => arg.startsWith(`--${name}=`))?.slice(name.length + 3);

const seed = option('seed') ?? '';
const exitOneIn = Number(option('exit-one-in') ?? Number.POSITIVE_INFINITY);

const templates = ['{+a}{+b}{+c}{+d}{+e}{+f}{+g}{+h}{+i}{+j}!', 'file:///{a}{b}{c}{d}{e}{f}{g}{h}{i}{j}/x'];
const resourceTemplates = templates.map((uriTemplate, at) => ({uriTemplate, name: `trap ${at}`}));
const traps = new Map<string, object>([
	['resources/templates/list', {result: {resourceTemplates}}],
	['resources/list', {result: {resources: []}}],
	['resources/read', {error: {code: -32002, message: 'Resource not found'}}],
]);

type Request = {
	readonly id?: unknown;
	readonly method?: string;
	readonly params?: {readonly protocolVersion?: string};
};

/** The response of the server with resources to a message about them. */
function trapFor(line: string): string | undefined {
	const {id, method = '', params} = JSON.parse(line) as Request;
	const serverInfo = {name: 'trap', version: '1'};
	const initialized = {
		protocolVersion: params?.protocolVersion,
		capabilities: {resources: {}, tools: {}},
		serverInfo,
	};
	const reply = method === 'initialize' ? {result: initialized} : traps.get(method);
	return reply && `${JSON.stringify({jsonrpc: '2.0', id, ...reply})}\n`;
}

process.stdin.pipe(split2()).on('data', line => {
	const payload = /"payload":"([^"]*)"/.exec(line)?.[1];
	if (payload !== undefined && randomOf(seed, payload) < 1 / exitOneIn) process.exit(1);
	const reply = (args.includes('--trap') ? trapFor(line) : undefined) ?? responseTo(line);
	if (reply !== undefined) process.stdout.write(reply);
});
