import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {until} from '../../helpers/pipeline.js';

const url = new URL('../../../bin/shared/stop-signals.js', import.meta.url);

/** A program that prints each step of its shutdown. */
const source = `import {listenForStopSignals} from ${JSON.stringify(url)};
	const stop = listenForStopSignals(code => process.exit(code));
	stop.requested.then(() => process.stdout.write('requested\\n'));
	stop.forced.then(() => process.stdout.write('forced\\n'));
	setInterval(() => {}, 60_000);
	process.stdout.write('ready\\n');`;

const start = async (t: ExecutionContext) => {
	const started = spawn(process.execPath, ['--input-type=module', '-e', source], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	t.teardown(() => started.kill('SIGKILL'));
	const output = {text: ''};
	started.stdout.setEncoding('utf8').on('data', text => {
		output.text += text;
	});
	await until(() => output.text === 'ready\n');
	return {started, output, exited: once(started, 'exit')};
};

for (const [signal, code] of [
	['SIGHUP', 129],
	['SIGINT', 130],
	['SIGTERM', 143],
] as const)
	test(`the first ${signal} requests a stop, the second forces it, the third exits`, async t => {
		const {started, output, exited} = await start(t);
		started.kill(signal);
		await until(() => output.text === 'ready\nrequested\n');
		started.kill(signal);
		await until(() => output.text === 'ready\nrequested\nforced\n');
		started.kill(signal);
		t.deepEqual(await exited, [code, null]);
	});

test('counts different signals together', async t => {
	const {started, output, exited} = await start(t);
	started.kill('SIGHUP');
	await until(() => output.text.endsWith('requested\n'));
	started.kill('SIGTERM');
	await until(() => output.text.endsWith('forced\n'));
	started.kill('SIGINT');
	t.deepEqual(await exited, [130, null]);
});
