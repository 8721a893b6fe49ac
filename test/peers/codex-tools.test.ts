import test, {type ExecutionContext} from 'ava';
import {type CodexKind, codexKinds, prepareCodex, runCodex} from './codex-clients.js';
import {serverFile} from './peers.js';
import {callTool, replyWith, runOutside} from './scripted-model.js';

/* Approvals for file changes and tools of MCP servers. */

const onRequest = {'approval-policy': 'on-request', sandbox: 'read-only'};
const patch = [
	"apply_patch <<'EOF'",
	'*** Begin Patch',
	'*** Add File: x.txt',
	'+hi',
	'*** End Patch',
	'EOF',
	'',
];
const remove = callTool('memory', 'delete_entities', {entityNames: ['nobody']});

/** Starts Codex with a server whose tools are marked as destructive. */
async function withServer(t: ExecutionContext, kind: CodexKind) {
	const words = JSON.stringify([serverFile('memory')]);
	const table = `[mcp_servers.memory]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${words}\nrequired = true\n`;
	const {home} = await prepareCodex(t, table);
	return runCodex(t, kind, home, {elicitation: {}});
}

for (const kind of codexKinds) {
	test.serial(`${kind}: the approval of a patch lists its files`, async t => {
		const {home} = await prepareCodex(t);
		const client = await runCodex(t, kind, home, {elicitation: {}});
		const made = client.make('codex', {
			prompt: runOutside(patch.join('\n')),
			...onRequest,
		});
		const {params, answer} = await client.question();
		t.regex(String(params.message), /Files: .*x\.txt\./);
		answer({action: 'accept', content: {}});
		t.is((await made.answer).status, 'completed');
	});
}

test.serial('app-server: requests approval of a tool call from the client', async t => {
	const client = await withServer(t, 'app-server');
	const made = client.make('codex', {prompt: remove, ...onRequest});
	const {params, answer} = await client.question();
	t.regex(String(params.message), /delete_entities/);
	answer({action: 'accept', content: {}});
	const turn = await made.answer;
	t.regex(turn.text, /deleted successfully/);
	t.like(client.news('tool_call_finished')[0], {server: 'memory', tool: 'delete_entities', isFailed: false});
});

test.serial('mcp-server: fails a turn whose tool approval the client cannot receive', async t => {
	const client = await withServer(t, 'mcp-server');
	const turn = await client.make('codex', {prompt: remove, ...onRequest}).answer;
	t.is(turn.status, 'failed');
	t.regex(turn.text, /default_tools_approval_mode/);
	t.is((await client.reply(turn.threadId, replyWith('NEXT'))).text, 'NEXT');
});
