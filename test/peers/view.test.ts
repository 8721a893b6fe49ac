import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import test, {type ExecutionContext} from 'ava';
import {writeBigLog} from '../../fixtures/big-log.js';
import {opening} from '../helpers/bridge.js';
import {program, startGateway} from '../helpers/gateway.js';
import {start} from '../helpers/program.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {back, eventLine, logFile, messageLine, timeAt} from '../view/logs.js';
import {holds, type Page, shareChromium} from './browser.js';

const newPage = shareChromium();

/** Opens `bridge view` in a browser, and waits for the program's URL. */
async function open(t: ExecutionContext, ...args: readonly string[]) {
	const running = start(t, ['view', ...args]);
	const [url = ''] = await running.hasLines(1);
	const {page, complaints} = await newPage(t);
	await page.goto(url);
	return {page, complaints, running};
}

const up = {side: 'upstream'} as const;
const init = (protocolVersion: string) => ({id: 1, method: 'initialize', params: {protocolVersion}});
const session = [
	eventLine('open'),
	messageLine(init('2024-11-05'), {line: 1}),
	messageLine(init('2025-11-25'), {line: 2, ...up}),
	messageLine({id: 1, result: {protocolVersion: '2025-11-25'}}, {line: 3, ...back, ...up}),
	messageLine({id: 1, result: {protocolVersion: '2024-11-05'}}, {line: 4, ...back}),
	messageLine({id: 2, method: 'tools/call', params: {name: 'echo', arguments: {text: 'needle'}}}, {line: 5}),
	messageLine({id: 3, method: 'nothing'}, {line: 6}),
	messageLine({id: 2, result: {content: [{type: 'text', text: 'needle'}]}}, {line: 17, ...back}),
	messageLine({id: 3, error: {code: -32601, message: 'Method not found'}}, {line: 18, ...back}),
	eventLine('close', undefined, 19),
];
const rowCount = (count: number): string =>
	`document.querySelectorAll('.row:not([hidden]):not(.waiting)').length === ${count}`;
const rowsInList = (count: number): string => `#list[aria-rowcount="${count}"]`;
const detail = (page: Page): Promise<string | null> => page.textContent('#detail');

test.serial('the page lists, filters, pairs and opens messages, and draws charts in Chromium', async t => {
	const {page, complaints} = await open(t, logFile(t, `${session.join('\n')}\n`));
	await holds(page, rowCount(session.length));
	await page.click('#row-5');
	await page.waitForSelector('#row-7.paired');
	await holds(page, "document.querySelectorAll('#detail section').length === 2");
	t.regex((await detail(page)) ?? '', /tools\/call.*Request.*needle.*Response.*needle/s);
	await page.click('#detail button:has-text("as script")');
	await holds(page, "document.querySelector('#toast').textContent === 'Script copied'");
	const command = await page.evaluate<string>('navigator.clipboard.readText()');
	t.regex(command, /^#!\/bin\/sh\n.*bridge "\$@" <<'END'\n\{.*"needle".*\}\nEND\n$/s);
	await page.click('#detail button:has-text("as fixture")');
	await holds(page, "document.querySelector('#toast').textContent === 'Fixture copied'");
	const fixture = JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()'));
	t.like(fixture, {request: {id: 2, method: 'tools/call'}, answer: {id: 2}});
	// A translated message is shown next to the original, with the changes marked.
	await page.click('#row-1');
	await page.waitForSelector('#detail .sides .changed');
	t.regex(
		(await detail(page)) ?? '',
		/Original.*client side.*2024-11-05.*Translated.*server side.*2025-11-25/s,
	);
	await page.click('#show [data-show=errors]');
	await holds(page, rowCount(1));
	t.regex((await page.textContent('#row-8')) ?? '', /nothing.*-32601 Method not found.*12\.0 ms.*error/s);
	await page.click('#clear');
	await page.selectOption('#method', 'tools/call');
	await holds(page, rowCount(2));
	await page.click('#clear');
	await page.click('#tab-sequence');
	await holds(page, "document.querySelectorAll('#sequence line.message').length === 10");
	t.is(await page.evaluate("document.querySelectorAll('#sequence line.response').length"), 4);
	await page.click('#tab-latency');
	await page.waitForSelector('#latency circle.middle');
	t.regex((await page.textContent('#latency')) ?? '', /3 responses/);
	t.deepEqual(complaints, []);
});

test.serial('the page is operable by keyboard, and exports a selection', async t => {
	const {page, complaints} = await open(t, logFile(t, `${session.join('\n')}\n`));
	await holds(page, rowCount(session.length));
	const {keyboard} = page;
	await keyboard.press('/');
	await keyboard.type('needle');
	await holds(page, rowCount(2));
	await keyboard.press('Escape');
	await keyboard.press('ArrowDown');
	await keyboard.press('Enter');
	await page.waitForSelector('#row-5.current');
	await holds(page, "document.querySelectorAll('#detail section').length === 2");
	await keyboard.press('p');
	await page.waitForSelector('#row-7.current');
	await keyboard.press('Escape');
	await keyboard.press('Escape');
	await holds(page, rowCount(session.length));
	await keyboard.press('Home');
	await keyboard.press('Shift+ArrowDown');
	await holds(page, "document.querySelector('#export').textContent === 'Export 2 rows'");
	const [saved] = await Promise.all([page.waitForEvent('download'), keyboard.press('e')]);
	t.is(await text(await saved.createReadStream()), `${session.slice(0, 2).join('\n')}\n`);
	await keyboard.press('?');
	await page.waitForSelector('#help[open]');
	await keyboard.press('Escape');
	for (const [key, view] of [
		['2', 'sequence'],
		['3', 'latency'],
		['1', 'list'],
	] as const) {
		await keyboard.press(key);
		await page.waitForSelector(`#view-${view}:not([hidden])`);
	}
	t.deepEqual(complaints, []);
});

const nasty = '<script>document.title="owned"</script><img src=x onerror=alert(1)>\u001b[2J\u202e';

test.serial('the page shows a hostile log as text only', async t => {
	const members = {time: nasty, ConnID: nasty, from: nasty, to: nasty, side: nasty};
	const message = {jsonrpc: nasty, id: nasty, method: nasty, params: {name: nasty}, [nasty]: nasty};
	const data = {time: timeAt(1), ConnID: 'raw', data: 'GET / HTTP/1.1\r\n%00%FF<b>', from: 'a', to: 'b'};
	const huge = messageLine({id: 1, result: {text: 'x'.repeat(50 * 2 ** 20)}}, back);
	const lines = [JSON.stringify({...members, message}), JSON.stringify(data), nasty, huge];
	const {page, complaints} = await open(t, logFile(t, `${lines.join('\n')}\n${huge.slice(0, 99)}`));
	await holds(page, rowCount(4));
	for (const row of [0, 1, 2, 3]) {
		await page.click(`#row-${row}`);
		await page.waitForSelector(`#row-${row}.current`);
		await page.waitForSelector(`#detail a[href$="row=${row}"]`);
		if (row === 1) t.regex((await detail(page)) ?? '', /00000000 {2}47 45 54 20.*GET \/ HTTP\/1.1/s);
	}
	t.regex((await detail(page)) ?? '', /52\.4 MB\. Only its beginning is shown/);
	t.regex((await page.textContent('#note')) ?? '', /cut off/);
	for (const key of ['2', '3', '1']) await page.keyboard.press(key);
	t.is(await page.evaluate("document.querySelectorAll('script, main img, iframe').length"), 1);
	t.regex(await page.evaluate<string>('document.title'), /bridge view$/);
	t.deepEqual(complaints, []);
});

test.serial(
	'the page shows the first rows of a log of 1,000,000 messages at once, and scrolls to its end',
	async t => {
		const file = join(tempFolder(t), 'big.ndjson');
		writeBigLog(file, 1_000_000, 250e6);
		const {page, complaints} = await open(t, file);
		await page.waitForSelector('#row-0');
		await holds(page, "document.querySelector('#progress').hidden");
		t.regex((await page.textContent('#count')) ?? '', /1,000,000 lines/);
		await page.waitForSelector(rowsInList(1_000_000));
		await page.keyboard.press('End');
		await page.waitForSelector('#row-999999.current');
		await page.keyboard.press('PageUp');
		await holds(page, "document.querySelector('.row.current:not(#row-999999)')");
		await page.evaluate(
			"document.querySelector('#list').scrollTop = document.querySelector('#list').scrollHeight / 2",
		);
		await holds(
			page,
			"document.querySelector('.row:not(.waiting)[id^=row-5], .row:not(.waiting)[id^=row-49]')",
		);
		// The wheel scrolls row by row, regardless of the number of rows.
		await page.evaluate("document.querySelector('#list').scrollTop = 0");
		await page.waitForSelector('#row-0');
		await page.mouse.move(300, 400);
		await page.mouse.wheel(0, 260);
		await holds(
			page,
			"document.querySelector('.row[data-place=\"10\"]') && !document.querySelector('#row-9')",
		);
		t.true((await page.evaluate<number>("document.querySelectorAll('.row').length")) < 60);
		t.deepEqual(complaints, []);
	},
);

test.serial(
	'the page of a gateway requires its token, and shows messages and services with errors and stderr [U-P0-2]',
	async t => {
		const gateway = await startGateway(t, {
			tokens: ['a-token-of-sixteen-characters'],
			servers: {
				puppet: program('puppet'),
				dies: {command: 'sh', args: ['-c', 'echo "no database" >&2; exit 3']},
			},
		});
		const {page, complaints} = await newPage(t, {colorScheme: 'dark'});
		await page.goto(gateway.base.href);
		await page.fill('input[name=token]', 'a-token-of-sixteen-characters');
		await page.keyboard.press('Enter');
		await page.waitForSelector('#list');
		await holds(page, "/No traffic yet/.test(document.querySelector('#empty')?.textContent)");
		const client = await gateway.open('puppet', {'x-bridge-token': 'a-token-of-sixteen-characters'});
		await client.request(7, 'echo', {text: 'hello'});
		await holds(page, "/echo/.test(document.querySelector('#list').textContent)");
		await page.click('#tab-services');
		await holds(page, "/puppet.*ready.*2025-11-25/.test(document.querySelector('#services').textContent)");
		const {status} = await gateway.post(
			'dies',
			{id: 1, method: 'initialize', params: opening},
			{'x-bridge-token': 'a-token-of-sixteen-characters'},
		);
		t.is(status, 502);
		await holds(
			page,
			"/dies.*failed.*exited with code 3.*no database/.test(document.querySelector('#services').textContent)",
		);
		t.deepEqual(complaints, []);
	},
);
