/** Clients that `--print-client` supports. */
export const snippetClients = ['codex', 'claude', 'cursor', 'vscode'] as const;
export type SnippetClient = (typeof snippetClients)[number];

export type GatewayAccess = {
	/** The URL of the gateway without a path: `http://127.0.0.1:7411`. */
	readonly base: URL;
	readonly services: readonly string[];
	/** Whether the gateway requires a token. */
	readonly hasToken: boolean;
	/** The token, if it should be written into the file. */
	readonly token?: string | undefined;
};

/** The variable that clients read the token from, so that it is not stored in a file. */
const TOKEN_VARIABLE = 'BRIDGE_TOKEN';

/** Text for a client's configuration. */
export type ClientSnippet = {
	/** The file, with a note about the token. */
	readonly location: string;
	readonly text: string;
	/** Commands that add the same servers for the current user. */
	readonly commands?: readonly string[];
};

/** Returns the text that configures a client to use each service of a gateway. */
export const gatewayClientSnippet = (client: SnippetClient, access: GatewayAccess): ClientSnippet =>
	gatewaySnippets[client](access);

const urlOf = ({base}: GatewayAccess, service: string): string => new URL(`/mcp/${service}`, base).href;

const gatewaySnippets: {readonly [client in SnippetClient]: (access: GatewayAccess) => ClientSnippet} = {
	codex(access) {
		const tables = access.services.map(service => {
			const header =
				access.token === undefined
					? `env_http_headers = { "X-Bridge-Token" = "${TOKEN_VARIABLE}" }\n`
					: `http_headers = { "X-Bridge-Token" = "${access.token}" }\n`;
			return `[mcp_servers.${service}]\nurl = "${urlOf(access, service)}"\n${access.hasToken ? header : ''}`;
		});
		return {location: locationText('~/.codex/config.toml', access), text: tables.join('\n')};
	},
	claude(access) {
		const header = access.hasToken
			? ` --header "X-Bridge-Token: ${access.token ?? `$${TOKEN_VARIABLE}`}"`
			: '';
		const commands = access.services.map(
			service => `claude mcp add --transport http ${service} ${urlOf(access, service)}${header}`,
		);
		const text = formatClientJson({mcpServers: httpEntries(access, `$\{${TOKEN_VARIABLE}}`)});
		return {location: locationText('.mcp.json of a project', access), text, commands};
	},
	cursor(access) {
		const servers = httpEntries(access, `$\{env:${TOKEN_VARIABLE}}`);
		const withoutType = Object.entries(servers).map(([name, {type: _type, ...rest}]) => [name, rest]);
		const text = formatClientJson({mcpServers: Object.fromEntries(withoutType)});
		return {location: locationText('.cursor/mcp.json', access), text};
	},
	vscode(access) {
		const password = {type: 'promptString', id: 'bridge-token', description: 'bridge token', password: true};
		const servers = httpEntries(access, `$\{input:${password.id}}`);
		const inputs = access.hasToken && access.token === undefined ? {inputs: [password]} : {};
		return {location: '.vscode/mcp.json', text: formatClientJson({...inputs, servers})};
	},
};

type HttpEntry = {
	readonly type: 'http';
	readonly url: string;
	readonly headers?: {readonly [name: string]: string};
};

function httpEntries(access: GatewayAccess, token: string): {readonly [service: string]: HttpEntry} {
	const headers = access.hasToken ? {headers: {'X-Bridge-Token': access.token ?? token}} : {};
	return Object.fromEntries(
		access.services.map(service => [service, {type: 'http', url: urlOf(access, service), ...headers}]),
	);
}

export const formatClientJson = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const locationText = (file: string, {hasToken, token}: GatewayAccess): string =>
	`${file}${hasToken && token === undefined ? `; the token is read from the variable ${TOKEN_VARIABLE}` : ''}`;
