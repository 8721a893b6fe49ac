const threadsHelp = `bridge threads: the Codex sessions that are known

Usage
  bridge threads [--team TEAM] [--repo NAME] [--identity NAME] [--json]
  bridge threads --prune         removes sessions that are over and have not been used for 30 days, or whose folder is gone, with
                                 their summaries, and says which

Sessions of all teams are listed, those at work first, then those used last. A session is active while the bridge serve that has
it runs, stale when that is gone (it can be resumed), closed, or interrupted. --repo takes the name of a repository or its folder.

Examples
  bridge threads --repo my-app
  bridge threads --identity arch --json | jq -r '.[0].codex_id'

Exit codes
  0 fine, 1 a registry cannot be read, 2 it was used wrongly
`;

const summaryHelp = `bridge summary: what a session has left in writing

Usage
  bridge summary ID [--team TEAM] [--json]

ID is a codex id, the id of a thread, or an identity, which stands for its active session, else the one used last.

Examples
  bridge summary codex:0b9c6a3e-8f7d-4b67-9f0a-2f6d6f1f9c11
  bridge summary arch-ctm > summary.md

Exit codes
  0 it was printed, 1 there is no such session or no summary of it, 2 it was used wrongly
`;

const mailHelp = `bridge mail: the inboxes of teams, for people

Usage
  bridge mail [--team TEAM] [--json]                 all inboxes, with how much in them is unread
  bridge mail --identity NAME [--team TEAM] [--json] what is in the inbox of one agent, the latest last
  bridge mail --follow [--identity NAME]             what arrives from now on

Inboxes are those of Claude Code teams, in ~/.claude/teams/TEAM/inboxes ($ATM_HOME/.claude, or $CLAUDE_CONFIG_DIR, where those
are set). Nothing is marked as read, and nothing is changed.

Examples
  bridge mail --team my-team
  bridge mail --identity arch-ctm --json | jq -r '.[] | select(.read | not) | .text'

Exit codes
  0 fine, 1 an inbox cannot be read, 2 it was used wrongly, or there is no such team or agent
`;

const atmToolsHelp = `bridge atm-tools: the mail of one agent, as an MCP server on stdio

Usage
  bridge atm-tools --identity NAME [--team TEAM] [--config FILE]

It has the tools atm_send, atm_read, atm_broadcast and atm_pending_count, all in the name of NAME. bridge serve puts it into the
configuration of each session that it starts, if the team exists, so that a Codex agent can write to its teammates;
atm_tools = false in [plugins.codex-mcp] leaves it out.

A session proves with the token in BRIDGE_SESSION_TOKEN, which bridge serve sets, that it has the identity NAME. Without a token, NAME
must not belong to a live session, a teammate in Claude Code or a lead.

Example
  codex mcp add atm -- bridge atm-tools --identity arch-ctm --team my-team

Exit codes
  0 the client closed its end, 1 stdin or stdout failed, 2 it was used wrongly
`;

const installHelp = `bridge install: writes bridge into a client's configuration

Usage
  bridge install claude|codex|cursor [NAME] [--user] [--yes] [flags of bridge serve]
  bridge install claude|codex|cursor [NAME] --url URL    a gateway instead of bridge serve

  claude    .mcp.json here; with --user, ~/.claude.json
  cursor    .cursor/mcp.json here; with --user, ~/.cursor/mcp.json
  codex     ~/.codex/config.toml, or where CODEX_HOME is

The entry is called NAME [bridge]. What would change is shown, and written once you agree, or with --yes at once. Comments, other
entries and variables of the same entry stay; the file as it was is kept beside it. --identity, --team, --role, --model,
--sandbox, --approval-policy and --config become part of the entry.

Examples
  bridge install claude --identity arch --team my-team
  bridge install codex --url http://127.0.0.1:7411/mcp --yes

Exit codes
  0 it is there, 1 you did not agree, 2 it was used wrongly or the file cannot be changed
`;

const trustHelp = `bridge trust: lets bridge use a configuration file that it finds in the working directory

Usage
  bridge trust [FILE]            trusts FILE [bridge.yaml, .yml, .json or .toml here] as it is now, with its packs
  bridge trust --list            the files that are trusted
  bridge trust --remove [FILE]   no longer trusts FILE

A configuration names commands that run as you, and it may be part of a cloned repository. So bridge gateway and bridge hub use
a file in the working directory only with the path and the content that you have trusted; otherwise they exit with 2.
On a terminal, bridge gateway prompts you to trust it. A running gateway or hub keeps the old configuration when its file or its
packs change, until they are trusted again. Files that --config or BRIDGE_CONFIG name, and those in ~/.config/bridge, need no
trust. Trusted content is recorded in ~/.local/state/bridge/trusted (or below XDG_STATE_HOME).

Example
  cd my-project && cat bridge.yaml && bridge trust && bridge gateway

Exit codes
  0 fine, 1 --remove of a file that was not trusted, 2 wrong arguments, or a file that cannot be read or trusted
`;

const doctorHelp = `bridge doctor: says what is wrong here, and how to mend it

Usage
  bridge doctor [--config FILE] [--json]

It looks at Node, Codex and how it is talked to, the configuration of servers and of sessions, folders and their rights, the
registry of each team, locks and temporary files of dead processes, processes that were left behind, and the port of the
gateway. Nothing is changed.

Example
  bridge doctor

Exit codes
  0 nothing is wrong (there may be warnings), 1 something is, 2 it was used wrongly
`;

const viewHelp = `bridge view: a page of recorded traffic, or of traffic as it passes

Usage
  bridge view LOG… [--port PORT]            a traffic log of any bridge command, or the folder that its files are in
  bridge view --live URL [--header "X-Bridge-Token: …"]     what passes a bridge gateway from now on

It prints an address for your browser, and serves the page there until Ctrl+C: messages with latency, size and status, requests and
answers paired, a sequence of each connection, latency over time, search, what a translation changed side by side, copy as curl or as
a fixture, export of a selection as a log, raw TCP data as text and hex. Logs of any size open at once; what is appended is shown. Only
who has the address gets in, and only from this machine. ? on the page has the keys.

Examples
  bridge view traffic.ndjson
  bridge view @./logs
  bridge view --live http://127.0.0.1:7411/

Exit codes
  0 it was asked to end, 2 it was used wrongly, or the log cannot be read
`;

/** What `bridge COMMAND --help` prints for the commands that are for people. */
export const companionHelps: ReadonlyArray<readonly [string, string]> = [
	['threads', threadsHelp],
	['summary', summaryHelp],
	['mail', mailHelp],
	['atm-tools', atmToolsHelp],
	['install', installHelp],
	['trust', trustHelp],
	['doctor', doctorHelp],
	['view', viewHelp],
];
