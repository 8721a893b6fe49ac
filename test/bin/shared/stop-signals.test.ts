import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {until} from '../../helpers/pipeline.js';

const url = new URL('../../../bin/shared/stop-signals.js', import.meta.url);

/** A program that says which step of its end it is asked for. */
const source = `import {listenForStopSignals} from ${JSON.stringify(url)};
	const stop = listenForStopSignals(code => process.exit(code));
	stop.requested.then(() => process.stdout.write('asked\\n'));
	stop.forced.then(() => process.stdout.write('urged\\n'));
	setInterval(() => {}, 60_000);
	process.stdout.write('ready\\n');`;

const start = async (t: ExecutionContext) => {
	const started = spawn(process.execPath, ['--input-type=module', '-e', source], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	t.teardown(() => started.kill('SIGKILL'));
	const said = {text: ''};
	started.stdout.setEncoding('utf8').on('data', text => {
		said.text += text;
	});
	await until(() => said.text === 'ready\n');
	return {started, said, exited: once(started, 'exit')};
};

for (const [signal, code] of [
	['SIGHUP', 129],
	['SIGINT', 130],
	['SIGTERM', 143],
] as const)
	test(`takes ${signal} for a wish, then for an urgent one, then for an order`, async t => {
		const {started, said, exited} = await start(t);
		started.kill(signal);
		await until(() => said.text === 'ready\nasked\n');
		started.kill(signal);
		await until(() => said.text === 'ready\nasked\nurged\n');
		started.kill(signal);
		t.deepEqual(await exited, [code, null]);
	});

test('counts different signals together', async t => {
	const {started, said, exited} = await start(t);
	started.kill('SIGHUP');
	await until(() => said.text.endsWith('asked\n'));
	started.kill('SIGTERM');
	await until(() => said.text.endsWith('urged\n'));
	started.kill('SIGINT');
	t.deepEqual(await exited, [130, null]);
});
