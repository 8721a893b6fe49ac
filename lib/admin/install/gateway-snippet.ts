/** Programs that bridge can be connected to, and that have their own way to be told so. */
export const snippetClients = ['codex', 'claude', 'cursor', 'vscode'] as const;
export type SnippetClient = (typeof snippetClients)[number];

export type GatewayAccess = {
	/** Where the gateway is, without a path: `http://127.0.0.1:7411`. */
	readonly base: URL;
	readonly services: readonly string[];
	/** Whether the gateway asks for a token. */
	readonly hasToken: boolean;
	/** The token itself, if it is written into the file. */
	readonly token?: string | undefined;
};

/** The variable that snippets have a client read its token from, so that it stands in no file. */
const TOKEN_VARIABLE = 'BRIDGE_TOKEN';

/** What to write into a client's configuration. */
export type ClientSnippet = {
	/** The file, and what else to know. */
	readonly location: string;
	/** The content of the file. */
	readonly text: string;
	/** Commands that do the same for the user alone. */
	readonly commands?: readonly string[];
};

/** What to write into a client's configuration to use each service of a gateway. */
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

/** JSON as people write it into a file. */
export const formatClientJson = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const locationText = (file: string, {hasToken, token}: GatewayAccess): string =>
	`${file}${hasToken && token === undefined ? `; the token is read from the variable ${TOKEN_VARIABLE}` : ''}`;
