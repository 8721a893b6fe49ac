/** What `bridge --help` prints. */
export const help = `bridge: a pipeline for MCP traffic, between a client and its server

Usage
  bridge [flags] -- COMMAND [ARGS…]    wraps a stdio MCP server: put this where the command was
  … | bridge [flags]                   a filter: messages from stdin, checked, to stdout

Flags
  --debug                  shows each message on stderr: time, direction, method, id, size, latency
  --log FILE               writes all traffic to FILE as NDJSON; --log @DIR for a new file each hour
  --timeout SECONDS        time for one request [60]; 0 for no limit
  --env NAME=VALUE         gives the server a variable; --env NAME passes on your own. May be repeated:
                           beyond PATH, HOME and the like a server sees nothing of your environment
  --log-level LEVEL        error, warn, info, debug or trace, for bridge's own log on stderr [info]
  --log-secrets            keeps passwords and tokens in the traffic log
  --filename-format F      names of files in @DIR [rawprox_%Y-%m-%d-%H.ndjson], in UTC
  --flush-millis MS        how long log lines wait to be written together [2000]
  --max-buffer SIZE        how much of the log may wait to be written [256MiB]
  --on-full gap|wait       then leaves lines out, counted, or lets traffic wait [gap]
  --help, --version

Examples
  bridge --debug -- npx -y @modelcontextprotocol/server-everything
  codex mcp-server | bridge --log traffic.ndjson | head -1

Exit codes
  0 fine, 1 it ran and failed, 2 it was used wrongly; after \`--\`, the server's own
`;
