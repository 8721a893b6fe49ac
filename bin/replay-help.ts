/** What `bridge replay --help` prints. */
export const replayHelp = `bridge replay: recorded traffic against a live server, or as the server of a live client

Usage
  bridge replay LOG [flags] -- COMMAND [ARGS…]    says to a server what the recorded client said, and compares the answers
  bridge replay LOG [flags] --url URL             the same with a server elsewhere
  bridge replay LOG --serve [--listen ADDR]       plays the recorded server, on stdio, or over HTTP at http://ADDR/mcp
  bridge replay LOG --raw --url tcp://HOST:PORT   bytes of a log of bridge raw, to a socket
  bridge replay LOG --raw --serve --listen ADDR   the other way round

LOG is what --log has written: a file, or a folder of files. Messages are sent in the order of the recording, each when the answers
that came before it have come again; what the server asks is answered as it was then. Times, ids and tokens may differ.

Flags
  --conn ID                one connection of the log, by its ConnID [all with the same server, one after the other]
  --timing fast|recorded   as fast as answers come, or not sooner than when it was recorded [fast]
  --ignore POINTER         a place in answers where anything may be: /result/tools/*/description. May be repeated.
                           With --serve, a place in requests: /params/arguments/now
  --strict                 times, ids and tokens have to be the same, too, and notifications have to be as many
  --set POINTER=VALUE      the value of a secret, which the log does not have: /params/arguments/token. May be repeated
  --side client|upstream   what the client said, or what bridge made of it for the server [client]
  --update                 writes what the live server says to LOG, in the place of what was recorded
  --junit FILE             a report for continuous integration
  --timeout SECONDS        time for one answer [60]; 0 for no limit
  --env, --header, --log, --log-level, --debug    as everywhere

Examples
  bridge --log session.ndjson -- npx -y @modelcontextprotocol/server-everything     records one
  bridge replay session.ndjson -- npx -y @modelcontextprotocol/server-everything    replays it
  bridge replay session.ndjson --serve                                              plays that server

Exit codes
  0 all answers were the same, 1 some were not, or the server could not be reached, 2 it was used wrongly
`;
