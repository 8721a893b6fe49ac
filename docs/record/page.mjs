// Takes docs/view-messages.png: a client of 2024-11-05, bridge and server-everything, in the page of `bridge view`.
// `npm run build && node test/peers/install.mjs && node docs/record/page.mjs`. Chromium needs Linux on x64, and the DejaVu fonts.
import ndjson from 'ndjson';
import split2 from 'split2';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import playwright from '../../test/peers/node_modules/playwright-core/index.js';

const path = name => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const bridge = path('dist/bin/bridge.js');
const everything = path('test/peers/node_modules/.bin/mcp-server-everything');
const inBrowser = name => path(`test/peers/node_modules/.chromium/${name}`);

const call = (name, args = {}) => ['tools/call', {name, arguments: args}];
const clientInfo = {name: 'old-client', version: '1'};
const requests = [
	['initialize', {protocolVersion: '2024-11-05', capabilities: {sampling: {}, roots: {}}, clientInfo}],
	['tools/list'],
	call('echo', {message: 'hello'}),
	call('get-structured-content', {location: 'New York'}),
	['resources/list'],
	['prompts/list'],
	call('no-such-tool'),
	['nothing/here'],
	call('trigger-long-running-operation', {duration: 1, steps: 2}),
	call('get-resource-links', {count: 1}),
];

/** Sends the requests, and closes the connection after the last response. */
async function record(log) {
	const client = spawn(process.execPath, [bridge, '--log', log, '--log-level', 'error', '--', everything], {stdio: ['pipe', 'pipe', 'ignore']});
	const send = message => client.stdin.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
	const pending = new Set(requests.keys());
	const exited = once(client, 'exit');
	client.stdout.pipe(ndjson.parse()).on('data', ({id, method, result}) => {
		// The server requests the roots of the client.
		if (method === 'roots/list') send({id, result: {roots: []}});
		if (method === undefined) pending.delete(id);
		if (id === 0 && result) {
			send({method: 'notifications/initialized'});
			for (const [at, [name, params]] of requests.entries()) if (at > 0) send({id: at, method: name, params});
		}
		if (pending.size === 0) client.stdin.end();
	});
	const [method, params] = requests[0];
	send({id: 0, method, params});
	await exited;
}

async function takePicture(url, folder) {
	const fonts = join(folder, 'fonts.conf');
	const prefer = (family, font) => `<alias><family>${family}</family><prefer><family>${font}</family></prefer></alias>`;
	const aliases = `<match><test qual="all" name="family" compare="not_contains"><string>Mono</string></test><test name="family" compare="not_eq"><string>monospace</string></test><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>${prefer('sans-serif', 'DejaVu Sans')}${prefer('monospace', 'DejaVu Sans Mono')}`;
	writeFileSync(fonts, `<fontconfig><dir>/usr/share/fonts</dir><cachedir>${folder}/fonts</cachedir>${aliases}</fontconfig>\n`);
	const env = {...process.env, LD_LIBRARY_PATH: inBrowser('lib'), FONTCONFIG_FILE: fonts};
	const browser = await playwright.chromium.launch({executablePath: inBrowser('chromium'), env});
	const page = await browser.newPage({viewport: {width: 1240, height: 640}});
	await page.goto(url);
	await page.click('.row:has-text("initialize") >> nth=0');
	await page.waitForSelector('#detail .sides .changed');
	await page.screenshot({path: path('docs/view-messages.png')});
	await browser.close();
}

const folder = mkdtempSync(join(tmpdir(), 'bridge-page-'));
const log = join(folder, 'traffic.ndjson');
await record(log);
const view = spawn(process.execPath, [bridge, 'view', 'traffic.ndjson'], {cwd: folder, stdio: ['ignore', 'pipe', 'ignore']});
const [url] = await once(view.stdout.pipe(split2()), 'data');
await takePicture(url, folder);
view.kill();
rmSync(folder, {recursive: true});
