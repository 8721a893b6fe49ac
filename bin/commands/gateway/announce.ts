import {writeSync} from 'node:fs';
import {
	type ClientSnippet,
	gatewayClientSnippet,
	type SnippetClient,
} from '../../../lib/admin/install/gateway-snippet.js';
import {formatListenAddress} from '../../../lib/config/listen-address.js';
import type {Config} from '../../../lib/config/schema.js';
import {usageError} from '../../shared/flag-values.js';
import type {LocalAccess} from '../../shared/local-access.js';

/** The token of this user, if clients need it. */
export const localToken = (access: LocalAccess): string | undefined =>
	access.by === 'token' ? access.token : undefined;

export const gatewayUrl = ({host, port}: {readonly host: string; readonly port: number}): URL => {
	const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
	return new URL(`http://${name}:${port}`);
};

/**
 * The entry for a client's configuration. It never contains configured tokens, only the token of this user.
 */
export function clientConfigSnippet(
	client: SnippetClient,
	{services, tokens}: Config,
	base: URL,
	token: string | undefined,
): ClientSnippet {
	const own = tokens.length === 0 ? token : undefined;
	const hasToken = tokens.length > 0 || own !== undefined;
	return gatewayClientSnippet(client, {base, services: enabled(services), hasToken, token: own});
}

export const noClientUrlError = (where: string) =>
	usageError(
		`Clients cannot connect to ${where} by URL.`,
		'Set listen to an address and a port, like 127.0.0.1:7411.',
	);

/** The remedy if the gateway cannot listen on its address. */
export const addressRemedy =
	'Use another one: --port PORT (0 for any that is free), or listen: ADDRESS:PORT in the configuration.';

const enabled = (services: Config['services']): string[] =>
	[...services.values()].filter(one => one.enabled).map(({name}) => name);

export type StartupDetails = {
	readonly file: string | undefined;
	readonly access: LocalAccess;
	readonly version: string;
};

/** Returns whether clients have to send the token of this user. */
export const requiresLocalToken = ({listen, tokens}: Config, access: LocalAccess): boolean =>
	listen.path === undefined && tokens.length === 0 && access.by === 'token';

/** Prints the URL of each service and instructions for clients. */
export function printUrls(base: URL, config: Config, {file, access}: StartupDetails): void {
	const {listen} = config;
	const names = [...config.services.keys()];
	const width = Math.max(...names.map(name => name.length));
	const isSocket = listen.path !== undefined;
	const origin = isSocket ? '' : base.origin;
	const rows = names.map(name => `  ${name.padEnd(width)}  ${origin}/mcp/${name}`);
	const where =
		file === undefined ? 'without a configuration file, with a demo server' : `configured by ${file}`;
	const needsToken = requiresLocalToken(config, access);
	const text = [
		`bridge gateway listens on ${isSocket ? formatListenAddress(listen) : origin}, ${where}.`,
		...(names.length === 0 ? ['  No servers are configured yet.'] : rows),
		`  all of them as one: ${origin}/mcp`,
		`  page: ${origin}/`,
		`  status: ${origin}/status`,
		...(needsToken && access.by === 'token' ? [`  token for X-Bridge-Token: in ${access.file}`] : []),
		isSocket
			? `  try it: curl --unix-socket ${listen.path} http://localhost/status`
			: '  configuration of clients: bridge gateway --print-client codex|claude|cursor|vscode',
	].join('\n');
	try {
		writeSync(1, `${text}\n`);
	} catch {
		// Stdout is closed, so there is no reader.
	}
}
