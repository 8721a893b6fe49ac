import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import test from 'ava';
import {judge} from './judge.js';

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Runs the soak for a few seconds with a stand-in for the gateway. */
async function soak(
	fault: string,
	...args: string[]
): Promise<{readonly code: number; readonly output: string}> {
	const program = ['--program', file('fake-gateway.js'), '--hostile', 'none', '--seed', '1'];
	const length = ['--minutes', '0.05', '--clients', '8'];
	const child = spawn(process.execPath, [file('main.js'), ...program, ...length, ...args], {
		stdio: ['ignore', 'pipe', 'inherit'],
		env: {...process.env, SOAK_FAULT: fault},
	});
	const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
	return {code, output};
}

test('soak passes when all responses are correct [SEC-SOAK]', async t => {
	const {code, output} = await soak('none');
	t.is(code, 0, output);
	t.regex(output, /quiet: [1-9]\d* right responses/);
	t.regex(output, /p99 ratio to the quiet phase: \d/);
	t.regex(output, /No failures\./);
});

for (const [fault, message, ...args] of [
	['another result', /FAILED .* another result than/],
	['another id', /FAILED .*(has another id|no pending request)/, '--patience', '3'],
	['lost', /FAILED .*(no response after 3 s|TimeoutError)/, '--patience', '3'],
	['twice', /FAILED .*(2 responses|no pending request)/],
	['error', /FAILED .*-31003/],
	['exit', /FAILED .*the gateway exited with 1/],
	['left behind', /FAILED .*1 processes were left behind: \d+ \S*node.* -e/],
	['none', /FAILED .*RSS of the gateway reached \d+ MiB; the bound is 10 MiB/, '--rss', '10'],
] as const)
	test(`soak fails on ${fault === 'none' ? 'too much memory' : `the fault "${fault}"`} [SEC-SOAK]`, async t => {
		const {code, output} = await soak(fault, ...args);
		t.is(code, 1, output);
		t.regex(output, message);
	});

const call = {id: 1, text: 'one', mayFail: false};
const response = {id: 1, result: {content: [{type: 'text', text: 'one'}]}};
const exited = {id: 1, error: {code: -31004, message: 'The server exited.'}};

test('soak accepts an error only from an upstream that may exit [SEC-SOAK]', t => {
	t.deepEqual(judge(call, {responses: [response]}), {});
	t.deepEqual(judge({...call, mayFail: true}, {responses: [exited]}), {error: -31004});
	t.truthy(judge(call, {status: 502, responses: [exited]}).failure);
	const other = {id: 1, error: {code: -32603, message: 'Internal error'}};
	t.truthy(judge({...call, mayFail: true}, {responses: [other]}).failure);
});

test('soak counts a response without a result, or with isError, as wrong [SEC-SOAK]', t => {
	for (const result of [undefined, null, {}, {content: []}, {...response.result, isError: true}])
		t.truthy(judge(call, {responses: [{id: 1, result}]}).failure, JSON.stringify(result));
	t.truthy(judge({...call, mayFail: true}, {status: 503, responses: []}).failure);
});
