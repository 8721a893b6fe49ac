import {appendFile, mkdir, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {type Message, runBridge, server} from '../../helpers/bridge.js';
import {newFolder, startPuppet, until} from '../../helpers/program.js';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const echo = (id: number, params: string): string =>
	`{"jsonrpc":"2.0","id":${id},"method":"echo","params":${params}}`;

const linesOf = async (file: string): Promise<string[]> =>
	(await readFile(file, 'utf8')).trimEnd().split('\n');
const entriesOf = async (file: string): Promise<Message[]> =>
	(await linesOf(file)).map(line => JSON.parse(line) as Message);

/** The number of log lines for the handshake: initialize, its response and the notification. */
const HANDSHAKE = 3;

/** Sends input to a puppet through bridge after a handshake. Waits for this number of responses. */
const talk = (flags: readonly string[], input: string | Uint8Array, answers = 1) =>
	runBridge([...flags, '--', ...server('puppet')], input, {answers, isReady: true});

test.serial(
	'--log FILE contains open, each message with its side, and close, with keys in the documented order',
	async t => {
		const file = join(await newFolder(t), 'traffic.ndjson');
		const call = echo(1, '{"n":9007199254740993,"text":"é"}');
		const {code} = await talk(['--log', file], `${call}\n`);
		t.is(code, 0);
		const lines = await linesOf(file);
		const [open, ...rest] = lines.map(line => JSON.parse(line) as Message);
		const [request, response, close] = rest.slice(HANDSHAKE);
		t.is(lines.length, 4 + HANDSHAKE);
		t.like(rest.slice(0, HANDSHAKE), [
			{message: {id: 'first', method: 'initialize'}, from: 'client', side: 'client'},
			{message: {id: 'first', result: {protocolVersion: '2025-11-25'}}, from: 'puppet', side: 'client'},
			{message: {method: 'notifications/initialized'}, from: 'client', side: 'client'},
		]);
		t.deepEqual(Object.keys(open ?? {}), ['time', 'ConnID', 'event', 'from', 'to']);
		t.like(open, {event: 'open', from: 'client', to: 'puppet'});
		t.deepEqual(Object.keys(request ?? {}), ['time', 'ConnID', 'message', 'from', 'to', 'side']);
		t.like(request, {from: 'client', to: 'puppet', side: 'client'});
		t.true(lines[1 + HANDSHAKE]?.includes(`"message":${call},`));
		t.like(response, {message: {id: 1}, from: 'puppet', to: 'client', side: 'client'});
		t.like(close, {event: 'close'});
		for (const entry of [open, ...rest]) {
			t.regex(String(entry?.time), TIME);
			t.regex(String(entry?.ConnID), /^[0-9A-Za-z]{8}$/);
			t.is(entry?.ConnID, open?.ConnID);
		}
		t.is((await stat(file)).mode & 0o777, 0o600);
	},
);

test.serial('logs invalid messages as escaped data, and the error response of bridge', async t => {
	const file = join(await newFolder(t), 'traffic.ndjson');
	await talk(['--log', file], Buffer.from('100% \xff\t"no"\n', 'latin1'));
	const data = (await entriesOf(file)).find(entry => 'data' in entry);
	t.like(data, {data: '100%25 %FF\t"no"', from: 'client', to: 'puppet', side: 'client'});
	const response = (await entriesOf(file)).findLast(entry => 'message' in entry);
	t.like(response, {message: {id: null, error: {code: -32700}}, to: 'client', side: 'client'});
});

test.serial('redacts the values of secret keys in the log, but forwards them unchanged [K4]', async t => {
	const file = join(await newFolder(t), 'traffic.ndjson');
	const secret = [
		'Authorization',
		'token',
		'access-token',
		'REFRESH_TOKEN',
		'id_token',
		'password',
		'passwd',
		'secret',
	];
	const more = ['client_secret', 'Api-Key', 'apiKey', 'cookie', 'Set-Cookie', 's\\u0065t_cookie'];
	const members = [...secret, ...more].map((key, index) => `"${key}":"canary-${index}"`);
	const params = `{${members.join()},"list":[{"token":{"a":"canary-x"}}],"progressToken":"kept","tokens":"kept too"}`;
	const {stdout} = await talk(['--log', file], `${echo(1, params)}\n`);
	t.is(stdout[0]?.match(/canary-\w+/g)?.length, 15);
	const text = await readFile(file, 'utf8');
	t.notRegex(text, /canary/);
	const {message} = (await entriesOf(file))[1 + HANDSHAKE] ?? {};
	const {params: logged} = message as {params: Message};
	t.like(logged, {
		Authorization: '[redacted]',
		progressToken: 'kept',
		tokens: 'kept too',
		password: '[redacted]',
	});
	t.deepEqual(logged.list, [{token: '[redacted]'}]);
	t.is((await stat(file)).mode & 0o777, 0o600);
});

test.serial('--log-secrets keeps secrets in the log', async t => {
	const file = join(await newFolder(t), 'traffic.ndjson');
	const call = echo(1, '{"password":"canary"}');
	await talk(['--log', file, '--log-secrets'], `${call}\n`);
	t.true((await readFile(file, 'utf8')).includes(call));
});

test.serial('redacts a secret in an invalid message in the log [K4]', async t => {
	const file = join(await newFolder(t), 'traffic.ndjson');
	await talk(['--log', file], '{"password":"canary-1", Authorization: Bearer canary-2\n');
	t.notRegex(await readFile(file, 'utf8'), /canary/);
});

test.serial('logs both versions of a message that bridge changes', async t => {
	const file = join(await newFolder(t), 'traffic.ndjson');
	const calls = ['9007199254740992', '9007199254740993'].map(
		id => `{"jsonrpc":"2.0","id":${id},"method":"slow","params":{"ms":200}}\n`,
	);
	await talk(['--log', file], calls.join(''), 2);
	const lines = (await linesOf(file)).filter(line => line.includes('"message"'));
	const sidesOf = (id: string): string[] =>
		lines.filter(line => line.includes(`"id":${id},`)).map(line => /"side":"(\w+)"/.exec(line)?.[1] ?? '');
	t.deepEqual(sidesOf('9007199254740993'), ['client', 'client']);
	t.is(lines.filter(line => line.includes('"side":"upstream"')).length, 2);
});

test.serial('a second run appends to the log after ending a torn last line', async t => {
	const file = join(await newFolder(t), 'traffic.ndjson');
	const run = () => talk(['--log', file], `${echo(1, '{}')}\n`);
	await run();
	const before = await readFile(file, 'utf8');
	await appendFile(file, '{"time":"torn');
	await run();
	const text = await readFile(file, 'utf8');
	t.true(text.startsWith(`${before}{"time":"torn\n{"time":"`));
	t.is((await linesOf(file)).length, 9 + 2 * HANDSHAKE);
	t.true(text.endsWith('\n'));
});

test.serial('--log @DIR creates the folder with mode 0700 and names files by --filename-format', async t => {
	const folder = join(await newFolder(t), 'logs');
	const flags = ['--log', `@${folder}`, '--filename-format', 'x-%Y%%.ndjson'];
	const {code} = await talk(flags, `${echo(1, '{}')}\n`);
	t.is(code, 0);
	const name = `x-${new Date().getUTCFullYear()}%.ndjson`;
	t.deepEqual(await readdir(folder), [name]);
	t.is((await entriesOf(join(folder, name))).length, 4 + HANDSHAKE);
	t.is((await stat(folder)).mode & 0o777, 0o700);
	t.is((await stat(join(folder, name))).mode & 0o777, 0o600);
});

test.serial('--log @DIR names files by the hour in UTC by default', async t => {
	const folder = join(await newFolder(t), 'logs');
	await talk(['--log', `@${folder}`], `${echo(1, '{}')}\n`);
	t.regex((await readdir(folder)).join(), /^rawprox_\d{4}-\d\d-\d\d-\d\d\.ndjson$/);
});

test.serial(
	'traffic continues if the log cannot be written, with an error and a count of lost bytes [I5]',
	async t => {
		const {code, stdout, stderr} = await talk(
			['--log', '/dev/full', '--flush-millis', '50'],
			`${echo(1, '{}')}\n`,
		);
		t.is(code, 0);
		t.is(stdout.length, 1);
		t.regex(stderr, /ENOSPC/);
		t.regex(stderr, /\d+ bytes of the traffic log could not be written/);
	},
);

test.serial(
	'traffic continues when the log folder is removed, and the log resumes when it is back [I5]',
	async t => {
		const folder = join(await newFolder(t), 'logs');
		const file = join(folder, 'traffic.ndjson');
		await mkdir(folder);
		const {bridge} = await startPuppet(t, [], ['--log', file, '--flush-millis', '20']);
		await rm(folder, {recursive: true});
		await bridge.request(1, 'echo');
		await bridge.says(/log\.trouble/);
		t.like(await bridge.request(2, 'echo', {still: 'served'}), {result: {still: 'served'}});
		await mkdir(folder);
		await bridge.says(/written again/);
		t.is(await bridge.end(), 0);
		t.true((await readFile(file, 'utf8')).includes('"still":"served"'));
	},
);

test.serial('recreates a log that was moved away [G10]', async t => {
	const folder = await newFolder(t);
	const file = join(folder, 'traffic.ndjson');
	const {bridge} = await startPuppet(t, [], ['--log', file, '--flush-millis', '20']);
	const sizes = async (): Promise<number> => (await readFile(file, 'utf8').catch(() => '')).length;
	let size = 0;
	const look = setInterval(
		() =>
			void sizes().then(found => {
				size = found;
			}),
		20,
	);
	t.teardown(() => clearInterval(look));
	await until(() => size > 0);
	await rm(file);
	await bridge.request(1, 'echo', {after: 'it'});
	t.is(await bridge.end(), 0);
	t.regex(await readFile(file, 'utf8'), /"after":"it"/);
});

test.serial('drops and counts lines when --max-buffer is full, and traffic continues', async t => {
	const file = join(await newFolder(t), 'traffic.ndjson');
	await writeFile(file, '');
	const flags = ['--log', file, '--max-buffer', '200'];
	const calls = Array.from({length: 50}, (_, id) => echo(id, '{"text":"0123456789"}')).join('\n');
	const {stdout} = await talk(flags, `${calls}\n`, 50);
	t.is(stdout.length, 50);
	const entries = await entriesOf(file);
	const gaps = entries.filter(({event}) => event === 'gap');
	t.true(gaps.length > 0);
	const missing = gaps.reduce((sum, {lines}) => sum + Number(lines), 0);
	t.is(entries.length - gaps.length + missing, 102 + HANDSHAKE);
});

test.serial('--on-full wait loses nothing, even with a small buffer', async t => {
	const file = join(await newFolder(t), 'traffic.ndjson');
	const flags = ['--log', file, '--max-buffer', '1kB', '--on-full', 'wait', '--flush-millis', '20'];
	const calls = Array.from({length: 500}, (_, id) => echo(id, '{"text":"0123456789"}')).join('\n');
	const {stdout} = await talk(flags, `${calls}\n`, 500);
	t.is(stdout.length, 500);
	t.is((await entriesOf(file)).length, 1002 + HANDSHAKE);
});

test.serial('the filter writes a log as well', async t => {
	const file = join(await newFolder(t), 'traffic.ndjson');
	const {code} = await runBridge(['--log', file], `${echo(1, '{"token":"canary"}')}\nno message\n`);
	t.is(code, 0);
	const entries = await entriesOf(file);
	t.like(entries[0], {event: 'open', from: 'stdin', to: 'stdout'});
	t.like(entries[1], {message: {id: 1, params: {token: '[redacted]'}}, from: 'stdin', to: 'stdout'});
	t.like(entries[2], {data: 'no message'});
	t.like(entries.at(-1), {event: 'close'});
});
