import {companionHelps} from './companion-help.js';
import {replayHelp} from './replay-help.js';

/** What `bridge --help` prints. */
const help = `bridge: a pipeline for MCP traffic, between a client and its server

Usage
  bridge [flags] -- COMMAND [ARGS…]    wraps a stdio MCP server: put this where the command was
  bridge [flags] --url URL             own stdio in front of a server elsewhere: http(s):// or ws(s)://
  … | bridge [flags]                   a filter: messages from stdin, checked, to stdout
  bridge gateway [--config FILE]       an HTTP server: each configured server at /mcp/{service}
  bridge raw [RULE…] [@DIR]            raw TCP forwarding with a log of all bytes; RULE is LOCAL:HOST:PORT
  bridge decode LOG [--conn ID]        such a log back into bytes
  bridge replay LOG -- COMMAND         recorded traffic against a live server; --serve plays the recorded server
  bridge view LOG                      a page of recorded traffic; --live URL: of a gateway's, as it passes
  bridge hub [--config FILE]           all configured servers as one on stdio, their tools behind one tool, run
  bridge serve [--identity NAME]       many Codex sessions as one MCP server on stdio, each with an identity
  bridge versions -- COMMAND [ARGS…]   or --url URL: what a server speaks, and what each client would lose with it
  bridge threads [--prune]             the Codex sessions that are known, and away with the old ones
  bridge mail [--follow]               the inboxes of teams, what is in one, and what arrives
  bridge atm-tools --identity NAME     mail tools for one agent, as an MCP server on stdio
  bridge summary ID                    what a session has left in writing
  bridge config [--check FILE]         the configuration that is in force, and where each value comes from
  bridge trust [FILE]                  lets bridge use a configuration file that it finds in the working directory
  bridge install claude|codex|cursor   writes bridge into a client's configuration
  bridge doctor                        says what is wrong here, and how to mend it

Flags
  --debug                  shows each message on stderr: time, direction, method, id, size, latency
  --log FILE               writes all traffic to FILE as NDJSON; --log @DIR for a new file each hour
  --timeout SECONDS        time for one request [60]; 0 for no limit
  --client-version V       protocol version that the client is told [the one that it asks for]
  --target-version V       protocol version that the server is asked for [2025-11-25]: 2024-11-05, 2025-03-26,
                           2025-06-18, 2025-11-25, or 2026-07-28, which has no handshake
  --cache-tools            asks for the list of tools once, answers from it, and tells the client of real changes
  --env NAME=VALUE         gives the server a variable; --env NAME passes on your own. May be repeated:
                           beyond PATH, HOME and the like a server sees nothing of your environment
  --header "NAME: VALUE"   goes with every request to the URL. May be repeated
  --config FILE            the configuration [bridge.yaml, .yml, .json or .toml here, or in ~/.config/bridge/];
                           a file here has to be trusted first: bridge trust
  --log-level LEVEL        error, warn, info, debug or trace, for bridge's own log on stderr [info]
  --log-secrets            keeps passwords and tokens in the traffic log
  --filename-format F      names of files in @DIR [rawprox_%Y-%m-%d-%H.ndjson], in UTC
  --flush-millis MS        how long log lines wait to be written together [2000]
  --max-buffer SIZE        how much of the log may wait to be written [256MiB]
  --on-full gap|wait       then leaves lines out, counted, or lets traffic wait [gap]
  --help, --version

Examples
  bridge --debug -- npx -y @modelcontextprotocol/server-everything
  bridge --target-version 2024-11-05 -- npx -y @modelcontextprotocol/server-memory
  bridge gateway --config bridge.yaml
  bridge hub --config bridge.yaml
  bridge versions -- npx -y @modelcontextprotocol/server-everything
  codex mcp-server | bridge --log traffic.ndjson | head -1

Exit codes
  0 fine, 1 it ran and failed, 2 it was used wrongly; after \`--\`, the server's own
`;

/** What `bridge versions --help` prints. */
const versionsHelp = `bridge versions: what a server speaks, and what each client would lose with it

Usage
  bridge versions [--timeout SECONDS] [--env NAME=VALUE] -- COMMAND [ARGS…]
  bridge versions [--timeout SECONDS] --url URL    a server behind streamable HTTP

A server is started, or connected to, once for each protocol version and asked for that, and once more for what it
offers. Nothing of it is called. All that was started is ended before bridge ends.

Example
  bridge versions -- npx -y @modelcontextprotocol/server-everything

Exit codes
  0 it speaks a version that bridge knows, 1 it does not or could not be reached, 2 it was used wrongly
`;

/** What `bridge gateway --help` prints. */
const gatewayHelp = `bridge gateway: an HTTP server in front of many MCP servers, each at /mcp/{service}

Usage
  bridge gateway [--config FILE] [--log FILE] [--debug]
  bridge gateway [--config FILE] --print-client codex|claude|cursor|vscode    what to write into a client's configuration

Servers stand in the configuration, which is read again when it changes; without any, there is a demo. A bridge.yaml found in the
working directory has to be trusted first: bridge trust --help. Clients connect over
streamable HTTP, HTTP+SSE (/mcp/{service}/sse) or WebSocket. /mcp is all servers as one, as bridge hub has them. /status, /healthz and /metrics
tell how it is; / is a page of services and live traffic, for a browser.

Example
  bridge gateway --config bridge.yaml

  # bridge.yaml
  listen: 127.0.0.1:7411
  servers:
    memory:
      command: npx
      args: ["-y", "@modelcontextprotocol/server-memory"]
    remote:
      url: https://example.com/mcp

Exit codes
  0 it was asked to end, 2 it was used wrongly: flags, configuration, a port that is taken
`;

/** What `bridge hub --help` prints. */
const hubHelp = `bridge hub: all configured servers as one MCP server on stdio

Usage
  bridge hub [--config FILE] [--log FILE] [--debug]
  bridge hub [--config FILE] --print-client codex|claude|cursor|vscode    what to write into a client's configuration

Servers stand in the configuration, which is read again when it changes. A bridge.yaml found in the working directory has to be
trusted first: bridge trust --help. The client sees one tool, run, which takes Python:
  sites = wix.list_sites()
  [s.name for s in sites if s.plan == "free"]
Each server is a pack, and its tools are called as pack.tool(name=value). proxy.search("text") and proxy.help("pack.tool")
find tools. expose: tools shows all tools as server__tool instead, and resources and prompts, too; expose: both has all.
A run may take as long as runTimeout says [30s]. packs: DIR has each JavaScript module in DIR as a pack, too.

Example
  bridge hub --config bridge.yaml

  # bridge.yaml
  expose: run
  servers:
    memory:
      command: npx
      args: ["-y", "@modelcontextprotocol/server-memory"]
    remote:
      url: https://example.com/mcp
      headers: { Authorization: "Bearer \${REMOTE_TOKEN}" }

Traces are exported where OTEL_* variables ask for it and @opentelemetry/sdk-node is installed next to bridge.

Exit codes
  0 the client closed its end, 1 stdin or stdout failed, 2 it was used wrongly: flags, configuration
`;

/** What `bridge serve --help` prints. */
const serveHelp = `bridge serve: many Codex sessions as one MCP server on stdio

Usage
  bridge serve [--identity NAME] [--role NAME] [--model MODEL | --fast] [--sandbox MODE] [--approval-policy POLICY]
  bridge serve --resume [ID]     the first call of the identity goes on with its last session, or with this one

One Codex runs; the client starts as many sessions in it as it likes with the tool codex, each with an identity of its own,
and goes on with codex-reply. codex_threads, codex_status and codex_close look at sessions and end them. Sessions are kept
in ~/.config/atm/codex-sessions, and can be resumed by their codex_id after a restart.

Flags
  --identity NAME          identity of sessions whose call names none [codex]
  --role NAME              role preset of calls that name none; other flags override it
  --model MODEL            model of sessions that have no other; --fast for fast_model of the configuration
  --sandbox MODE           read-only, workspace-write or danger-full-access
  --approval-policy P      on-request or never
  --team NAME              team whose sessions these are
  --timeout SECONDS        time for one turn [300]; 0 for no limit
  --resume [ID]            codex_id, thread id or identity; without ID, the last session of the identity
  --config FILE            configuration instead of .atm.toml and ~/.config/atm/config.toml
  --trust                  trusts the .atm.toml of this repository with all keys: docs/atm-config.md
  --env NAME=VALUE         gives Codex a variable; --env NAME passes on your own. May be repeated
  --log FILE, --debug      as everywhere

Example
  bridge serve --identity arch-ctm --timeout 600

  # in Claude Code
  claude mcp add codex -- bridge serve

Exit codes
  0 the client closed its end, 1 Codex died or could not be started, 2 it was used wrongly: flags, configuration
`;

/** What `bridge config --help` prints. */
const configHelp = `bridge config: the configuration that is in force, and where each value comes from

Usage
  bridge config                  the file that is found: $BRIDGE_CONFIG, else bridge.yaml, .yml, .json or .toml
                                 here, else in ~/.config/bridge/
  bridge config --config FILE    this file
  bridge config --check FILE     the same, to see whether a file is right before it is put to use
  bridge config --json           for programs

Behind it is the configuration of sessions, which bridge serve goes by: its flags (--identity, --team, --role, --model, …),
ATM_* variables, the file that $ATM_CONFIG names, .atm.toml here or above, and ~/.config/atm/config.toml. A .toml file with tables of
those can be named, too. --trust shows what holds where the repository's own file is trusted. docs/atm-config.md has all keys.

Secrets are shown as [hidden]. All mistakes are told at once, on stderr, each with its line and key.

Keys
  listen tokens origins expose startupTimeout runTimeout packs secret advertise store
  limits: message sessions idle unread unreadFor kept rate clientSessions clientRuns clientRequests
  servers (or mcpServers): for each name
    url or command; args env cwd; headers accept contentType
    transport (or type) targetVersion clientVersion cacheTools timeout enabled (or disabled)
    insecure shared strict passAuthorization
  \${NAME} and \${NAME:-default} in values are taken from the environment; $\${ is a plain \${

Example
  bridge config --check bridge.yaml

Exit codes
  0 all is well, 2 the file is wrong or missing
`;

/** What `bridge raw --help` prints. */
const rawHelp = `bridge raw: forwards TCP connections and logs every byte as NDJSON (what rawprox.exe does)

Usage
  bridge raw [--mcp-port PORT] [--flush-millis MS] [--filename-format FORMAT] PORT_RULE... [@LOG_DIRECTORY]

  PORT_RULE                LOCAL_PORT:TARGET_HOST:TARGET_PORT, any number of them. LOCAL_PORT alone listens on 127.0.0.1;
                           write ADDRESS:LOCAL_PORT for another address, 0 for any port that is free, and an IPv6
                           address in brackets: [::1]:8080:[2001:db8::1]:80
  @LOG_DIRECTORY           logs to files there; without it, to stdout. --log FILE logs to one file

Flags
  --mcp-port PORT          an MCP server on this port, 0 for any, to change rules and logs while it runs: start-logging,
                           stop-logging, add-port-rule, remove-port-rule, shutdown. Its URL is the first line on stdout
  --mcp-token TOKEN        clients of that server must send Authorization: Bearer TOKEN. Prefer BRIDGE_MCP_TOKEN, which other
                           users cannot see. Without a token, it serves its own user and root on Linux, all users elsewhere
  --log-root DIR           the only folder that start-logging may write to
  --flush-millis MS        how long lines wait to be written together [2000]
  --filename-format FORMAT names of files [rawprox_%Y-%m-%d-%H.ndjson], in UTC: %Y %m %d %H %M %S; needs @LOG_DIRECTORY
  --max-buffer SIZE        how much of the log may wait to be written, for each destination [256MiB]
  --on-full gap|wait       then leaves lines out, counted, or lets traffic wait [gap]
  --log-level LEVEL        error, warn, info, debug or trace, for bridge's own log on stderr [info]

Examples
  bridge raw 8080:example.com:80                          curl -H 'Host: example.com' http://127.0.0.1:8080/
  bridge raw 8080:example.com:80 5433:db.local:5432 @./logs
  bridge raw --mcp-port 8765
  bridge raw 8080:example.com:80 >/dev/null               forwards without a log

Documentation
  docs/raw.md has the log line by line, the tools of the MCP server, and what happens when a disk is full.
  bridge decode LOG turns a log back into bytes. TLS is not decrypted.

Exit codes
  0 it was asked to end, 2 it was used wrongly: flags, rules, a port that is taken
`;

/** What `bridge decode --help` prints. */
const decodeHelp = `bridge decode: the bytes of one connection, out of a traffic log

Usage
  bridge decode LOG… [--conn ID] [--from|--to]

LOG is a file of bridge raw, or the folder that its files are in; - is stdin. Several are read in the order of time. --conn
names the connection, by its ConnID; it may be left out where there is only one. --from prints what came from the side that
opened the connection, --to what was said to it; without either, both are printed in the order in which they passed.

Example
  bridge decode ./logs --conn 0Ab3xYz9 --to | gunzip

Exit codes
  0 fine, 1 there is no such connection, or lines of it are missing or broken, 2 it was used wrongly
`;

const helps: ReadonlyMap<string | undefined, string> = new Map([
	['versions', versionsHelp],
	['gateway', gatewayHelp],
	['raw', rawHelp],
	['decode', decodeHelp],
	['replay', replayHelp],
	['hub', hubHelp],
	['serve', serveHelp],
	['config', configHelp],
	...companionHelps,
]);

/** What is printed for `bridge COMMAND --help`, or without a command. */
export const helpOf = (command?: string): string => helps.get(command) ?? help;
