import test from 'ava';
import {createLog, type LogLevelName, logLevelNames} from '../../lib/core/log.js';

const start = (level: LogLevelName, isPretty = false) => {
	const lines: string[] = [];
	return {log: createLog({level, write: line => lines.push(line), isPretty}), lines};
};

test('writes one JSON line per entry: level, time, name, event, fields, sentence', async t => {
	const {log, lines} = start('info');
	log.warn('child.slow', 'It takes long.', {pid: 5});
	await log.flush();
	t.is(lines.length, 1);
	const {time, ...entry} = JSON.parse(lines[0] ?? '');
	t.deepEqual(entry, {level: 40, name: 'bridge', event: 'child.slow', pid: 5, msg: 'It takes long.'});
	t.regex(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
	t.true(lines[0]?.endsWith('}\n'));
});

for (const [index, level] of logLevelNames.entries())
	test(`writes only entries of this or a higher level at level ${level}`, async t => {
		const {log, lines} = start(level);
		for (const each of logLevelNames) log[each](each, 'x');
		await log.flush();
		t.deepEqual(
			lines.map(line => JSON.parse(line).event),
			logLevelNames.slice(0, index + 1),
		);
	});

test('keeps the order of entries logged before and after pino was loaded', async t => {
	const {log, lines} = start('info');
	for (const number of [1, 2, 3]) log.info(`early.${number}`, 'x');
	t.deepEqual(lines, []);
	await log.flush();
	log.info('late', 'x');
	t.deepEqual(
		lines.map(line => JSON.parse(line).event),
		['early.1', 'early.2', 'early.3', 'late'],
	);
});

test('flushes without entries', async t => {
	const {log, lines} = start('error');
	log.info('quiet', 'x');
	await log.flush();
	t.deepEqual(lines, []);
});

test('escapes text that contains line breaks', async t => {
	const {log, lines} = start('info');
	log.info('e', 'a\nb', {name: '"}\n{"level":50}', text: '\u001b[2J'});
	await log.flush();
	t.is(lines.length, 1);
	t.is(lines[0]?.split('\n').length, 2);
	t.is(JSON.parse(lines[0] ?? '').text, '\u001b[2J');
});

test('writes lines for people on a terminal', async t => {
	const {log, lines} = start('info', true);
	log.error('child.died', 'It died.', {pid: 5, text: 'a "b"'});
	await log.flush();
	t.is(lines.length, 1);
	t.regex(lines[0] ?? '', /^\d\d:\d\d:\d\d\.\d{3} error child\.died: It died\. pid=5 text="a \\"b\\""\n$/);
});

test('escapes control characters in lines for people', async t => {
	const {log, lines} = start('info', true);
	const evil = 'a\u001b[2J\n\r\u0007\u007f\u009b1m';
	log.warn('e', 'A sentence.', {start: evil});
	log.warn('e', `${evil} sent something.`);
	await log.flush();
	t.is(lines.length, 2);
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not occur
	for (const line of lines) t.notRegex(line.slice(0, -1), /[\u0000-\u001f\u007f-\u009f]/);
});

test('omits fields from lines for people that are null or already in the sentence', async t => {
	const {log, lines} = start('info', true);
	log.info('proxy.connect', 'one 1.2 is connected, with 3 tools.', {
		server: 'one',
		version: '1.2',
		tools: 3,
		error: null,
		reason: 'on',
		count: 13,
	});
	await log.flush();
	t.regex(lines[0] ?? '', / proxy\.connect: one 1\.2 is connected, with 3 tools\. reason="on" count=13\n$/);
});
