import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {program, startGateway} from '../../helpers/gateway.js';
import {logged, newFolder, until} from '../../helpers/program.js';

test('warns about a configuration file without servers and does not start the demo [U-P1-16]', async t => {
	const gateway = await startGateway(t, {});
	t.regex(gateway.running.lines.join('\n'), /No servers are configured yet\./);
	t.notRegex(gateway.running.lines.join('\n'), /demo/);
	t.deepEqual(JSON.parse((await gateway.fetch('/status')).text).services, {});
	await until(() => logged(gateway.running, 'config.empty').length > 0);
	t.like(logged(gateway.running, 'config.empty'), [{level: 40, file: gateway.file}]);
	await gateway.configure({limits: {message: '1MiB'}});
	await until(() => logged(gateway.running, 'config.loaded').length > 0);
	t.is(logged(gateway.running, 'config.empty').length, 1, 'a file that stays empty is reported only once');
	await gateway.configure({servers: {s: program('speaker', '2025-06-18')}});
	await until(async () => (await gateway.post('s', {id: 1, method: 'ping'})).status !== 404);
	await gateway.configure({});
	await until(() => logged(gateway.running, 'config.empty').length > 1);
	t.deepEqual(JSON.parse((await gateway.fetch('/status')).text).services, {});
});

test('an empty YAML file starts a gateway without services [U-P1-16]', async t => {
	const file = join(await newFolder(t), 'empty.yaml');
	await writeFile(file, '');
	const {stdout, code} = await runBridge(['gateway', '--config', file, '--print-client', 'claude']);
	t.is(code, 0);
	t.notRegex(stdout.join('\n'), /demo/);
});

test('bridge view rejects a file that is not a traffic log, with exit code 2 [U-P1-16]', async t => {
	const folder = await newFolder(t);
	for (const [name, text] of [
		['bad.yaml', 'servers:\n  files:\n    command: npx\n'],
		['bad.json', '{"mcpServers":{}}'],
		['bad.bin', '\u0000\u0001'],
	] as const) {
		const file = join(folder, name);
		await writeFile(file, text);
		const {code, stderr, stdout} = await runBridge(['view', file]);
		t.is(code, 2, name);
		t.deepEqual(stdout, []);
		t.true(stderr.includes(`${file} is not a traffic log`), stderr);
	}
	t.is((await runBridge(['view', folder])).code, 2, 'a folder of such files is rejected as well');
});
