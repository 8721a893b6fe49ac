/** Programs that bridge can be connected to, and that have their own way to be told so. */
export const clients = ['codex', 'claude', 'cursor', 'vscode'] as const;
export type Client = (typeof clients)[number];

export type Reach = {
	/** Where the gateway is, without a path: `http://127.0.0.1:7411`. */
	readonly base: URL;
	readonly services: readonly string[];
	/** Whether the gateway asks for a token. */
	readonly hasToken: boolean;
	/** The token itself, if it is written into the file. */
	readonly token?: string | undefined;
};

/** The variable that snippets have a client read its token from, so that it stands in no file. */
const TOKEN = 'BRIDGE_TOKEN';

/** What to write into a client's configuration. */
export type Snippet = {
	/** The file, and what else to know. */
	readonly place: string;
	/** The content of the file. */
	readonly text: string;
	/** Commands that do the same for the user alone. */
	readonly commands?: readonly string[];
};

/** What to write into a client's configuration to use each service of a gateway. */
export const clientSnippet = (client: Client, reach: Reach): Snippet => snippets[client](reach);

const urlOf = ({base}: Reach, service: string): string => new URL(`/mcp/${service}`, base).href;

const snippets: {readonly [client in Client]: (reach: Reach) => Snippet} = {
	codex(reach) {
		const tables = reach.services.map(service => {
			const header =
				reach.token === undefined
					? `env_http_headers = { "X-Bridge-Token" = "${TOKEN}" }\n`
					: `http_headers = { "X-Bridge-Token" = "${reach.token}" }\n`;
			return `[mcp_servers.${service}]\nurl = "${urlOf(reach, service)}"\n${reach.hasToken ? header : ''}`;
		});
		return {place: place('~/.codex/config.toml', reach), text: tables.join('\n')};
	},
	claude(reach) {
		const header = reach.hasToken ? ` --header "X-Bridge-Token: ${reach.token ?? `$${TOKEN}`}"` : '';
		const commands = reach.services.map(
			service => `claude mcp add --transport http ${service} ${urlOf(reach, service)}${header}`,
		);
		const text = jsonText({mcpServers: entries(reach, `$\{${TOKEN}}`)});
		return {place: place('.mcp.json of a project', reach), text, commands};
	},
	cursor(reach) {
		const servers = entries(reach, `$\{env:${TOKEN}}`);
		const withoutType = Object.entries(servers).map(([name, {type: _type, ...rest}]) => [name, rest]);
		const text = jsonText({mcpServers: Object.fromEntries(withoutType)});
		return {place: place('.cursor/mcp.json', reach), text};
	},
	vscode(reach) {
		const password = {type: 'promptString', id: 'bridge-token', description: 'bridge token', password: true};
		const servers = entries(reach, `$\{input:${password.id}}`);
		const inputs = reach.hasToken && reach.token === undefined ? {inputs: [password]} : {};
		return {place: '.vscode/mcp.json', text: jsonText({...inputs, servers})};
	},
};

type Entry = {
	readonly type: 'http';
	readonly url: string;
	readonly headers?: {readonly [name: string]: string};
};

function entries(reach: Reach, token: string): {readonly [service: string]: Entry} {
	const headers = reach.hasToken ? {headers: {'X-Bridge-Token': reach.token ?? token}} : {};
	return Object.fromEntries(
		reach.services.map(service => [service, {type: 'http', url: urlOf(reach, service), ...headers}]),
	);
}

/** JSON as people write it into a file. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const place = (file: string, {hasToken, token}: Reach): string =>
	`${file}${hasToken && token === undefined ? `; the token is read from the variable ${TOKEN}` : ''}`;
