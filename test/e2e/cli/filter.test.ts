import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {start} from '../../helpers/program.js';

const messages = [
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"x":9007199254740993}}',
	'{ "jsonrpc" : "2.0", "id":1 ,"result":{"text":"é\u2028\\ud800 \\u0000"} }',
	'{"method":"notifications/x","jsonrpc":"2.0","params":{"__proto__":{"a":1.0}}}',
	'{"jsonrpc":"2.0","id":"\\u0041","error":{"code":-32601,"message":"no"}}',
	'{"jsonrpc":"2.0","id":1,"result":{"the same id":"again"}}',
];

test.serial('forwards messages of both sides byte for byte and exits with 0', async t => {
	const {code, stdout, stderr} = await runBridge([], `${messages.join('\n')}\n`);
	t.is(code, 0);
	t.deepEqual(stdout, messages);
	t.is(stderr, '');
});

test.serial(
	'drops invalid lines with a warning on stderr, without a response, and forwards the rest',
	async t => {
		const bad = [
			'no JSON',
			'[]',
			'{"jsonrpc":"2.0","id":null,"method":"x"}',
			'{"jsonrpc":"2.0","method":"a","method":"b"}',
		];
		const input = [messages[0], ...bad, Buffer.from([0x22, 0xff, 0x22]).toString('latin1'), messages[1]].join(
			'\n',
		);
		const running = start(t, []);
		running.stdin.end(Buffer.from(`${input}\n`));
		t.is((await running.exited).code, 0);
		t.deepEqual(running.lines, [messages[0], messages[1]]);
		const warnings = running.stderr.split('\n').filter(line => line.includes('"level":40'));
		t.is(warnings.length, 5);
	},
);

test.serial('forwards a message at once, before the end of input', async t => {
	const running = start(t, []);
	running.sendText(`${messages[0]}\n`);
	t.deepEqual(await running.hasLines(1), [messages[0]]);
	t.is(await running.end(), 0);
});

test.serial('writes nothing for empty input and exits with 0', async t => {
	t.deepEqual(await runBridge([]), {code: 0, stdout: [], stderr: ''});
});

test.serial('exits gracefully on a signal after forwarding its input', async t => {
	const running = start(t, []);
	running.sendText(`${messages[0]}\n`);
	await running.hasLines(1);
	running.child.kill('SIGTERM');
	t.deepEqual(await running.exited, {code: 0, signal: null});
});

test.serial(
	'with --debug, prints each message on stderr, with a latency if request and response both pass',
	async t => {
		const {code, stdout, stderr} = await runBridge(
			['--debug'],
			`${messages.slice(0, 2).join('\n')}\n${messages[3]}\n`,
		);
		t.is(code, 0);
		t.is(stdout.length, 3);
		const lines = stderr.split('\n').filter(line => /^\d\d:\d\d:\d\d\.\d{3}Z /.test(line));
		t.is(lines.length, 3);
		t.regex(lines[0] ?? '', /initialize .*#1 .*78 B$/);
		t.regex(lines[1] ?? '', /initialize .*#1 .* \d+(\.\d+)? ms$/);
		t.regex(lines[2] ?? '', /#"\\u0041"/);
		t.regex(lines[2] ?? '', /-32601/);
		t.notRegex(lines[2] ?? '', /\d ms/);
		t.false(stderr.includes('\u001b'));
	},
);

test.serial('drops a line that is too long with a warning and forwards the next', async t => {
	const long = `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(65 * 2 ** 20)}"}\n`;
	const running = start(t, []);
	running.stdin.end(`${long}${messages[0]}\n`);
	t.is((await running.exited).code, 0);
	t.deepEqual(running.lines, [messages[0]]);
	t.is(running.stderr.split('\n').filter(line => line.includes('"level":40')).length, 1);
});
