import test from 'ava';
import {runBridge, server, startReady} from '../../helpers/bridge.js';
import {program, startGateway} from '../../helpers/gateway.js';
import {native, teamOf} from '../mail/support.js';
import {place, startServe} from '../serve/support.js';

/** Control and bidi characters that clear the screen, forge lines or reorder text. */
const HOSTILE = 'red\u001b[31m csi\u009b2J bidi\u202e\u2066 del\u007f mark\u200f\u061c';
const ESCAPED = 'red\\x1b[31m csi\\x9b2J bidi\\u202e\\u2066 del\\x7f mark\\u200f\\u061c';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const FORGED = '{"level":50,"name":"bridge","event":"forged","msg":"forged"}';

test('the gateway prefixes and escapes the stderr of its only service [SEC-D20]', async t => {
	const words = `--words=${HOSTILE}\n${FORGED}\nunfinished`;
	const gateway = await startGateway(t, {servers: {one: program('puppet', words)}});
	await gateway.open('one');
	t.is(await gateway.stop(), 0);
	const {stderr} = gateway.running;
	t.notRegex(stderr, raw);
	t.true(stderr.includes(`[one] ${ESCAPED}\n[one] ${FORGED}\n`), stderr);
	t.true(stderr.includes('[one] unfinished\n'), stderr);
	t.false(stderr.split('\n').some(line => line.startsWith(FORGED)));
});

test('serve prefixes and escapes the stderr of Codex [SEC-D20]', async t => {
	const where = await place(t, 'app-server', `--words=${HOSTILE}\n${FORGED}\n`);
	const client = await startServe(t, where);
	await client.running.says(/\[codex\] \{"level"/);
	t.is(await client.running.end(), 0);
	t.notRegex(client.running.stderr, raw);
	t.true(client.running.stderr.includes(`[codex] ${ESCAPED}\n`));
});

test('escapes C1 and bidi characters in the structured log as JSON [SEC-D20]', async t => {
	const running = await startReady(['--', ...server('puppet')]);
	running.sendText(`${HOSTILE.replaceAll('\u001b', '')}\n`);
	await running.says(/csi/);
	t.is(await running.end(), 0);
	t.notRegex(running.stderr, raw);
	t.regex(running.stderr, /csi\\u009b2J bidi\\u202e\\u2066 del\\u007f/);
	const [line = '{}'] = running.stderr.split('\n').filter(each => each.includes('csi'));
	t.true(String((JSON.parse(line) as {start?: string}).start).includes('csi\u009b2J bidi\u202e'));
});

test('--debug escapes tool names and error texts [SEC-D20]', async t => {
	const running = await startReady(['--debug', '--', ...server('puppet')]);
	await running.request(1, 'tools/call', {name: HOSTILE});
	await running.request(HOSTILE, `method ${HOSTILE}`);
	t.is(await running.end(), 0);
	t.notRegex(running.stderr, raw);
	t.true(running.stderr.includes('bidi\\u202e\\u2066'));
});

test('forwards the stderr of a wrapped server unchanged if stderr is not a terminal [SEC-D20]', async t => {
	const {stderr} = await runBridge(['--', ...server('puppet', `--words=${HOSTILE}\n`)], '', {isReady: true});
	t.true(stderr.includes(`${HOSTILE}\n`));
});

test('escapes the last stderr lines of a crashed server in errors on stderr and to clients [SEC-D20]', async t => {
	const [node = '', file = ''] = server('puppet');
	const crashing = [node, file, `--words=${HOSTILE}\n`, '--exit=3'];
	const {stderr} = await runBridge(['versions', '--', ...crashing]);
	const last = stderr.slice(stderr.lastIndexOf(`${HOSTILE}\n`) + HOSTILE.length);
	t.notRegex(last, raw);
	const running = await startReady(['--', ...server('puppet')]);
	const base64 = Buffer.from(HOSTILE).toString('base64');
	await running.request(1, 'stderr', {base64});
	const {error} = await running.request(2, 'exit', {code: 3});
	t.notRegex(JSON.stringify(error), raw);
	t.true((error as {message: string}).message.includes(ESCAPED));
	t.is(await running.end(), 3);
});

test('bridge mail escapes the text of agents, in plain text and in JSON [SEC-D20]', async t => {
	const team = teamOf(t);
	team.put('dev-1', [native(`eve${HOSTILE}`, `${HOSTILE}\nnext`)]);
	const read = async (...args: string[]): Promise<string> => {
		const options = {env: {...process.env, ATM_HOME: team.home}, cwd: team.home};
		return (await runBridge(['mail', '--identity', 'dev-1', ...args], '', options)).stdout.join('\n');
	};
	const text = await read();
	t.notRegex(text, raw);
	t.true(text.includes(`  ${ESCAPED}\n  next`), text);
	const json = await read('--json');
	t.notRegex(json, raw);
	t.true((JSON.parse(json) as Array<{text: string}>)[0]?.text.includes(HOSTILE), json);
});
