import {existsSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {fixture, type Running, startBridge} from '../../helpers/bridge.js';
import {until} from '../../helpers/program.js';
import {logged} from '../hub/support.js';
import {type Home, newHome} from './home.js';

// Files that other users can write are rejected.
process.umask(0o077);

/**
 * Starts a hub with a discovered file, which configures one server of tools and a pack that returns a number.
 */
async function startFound(
	t: ExecutionContext,
): Promise<{home: Home; hub: Running; configure(...names: string[]): void; pack(value: number): void}> {
	const home = newHome(t);
	const configure = (...names: string[]): void => {
		const server = (name: string) => ({command: process.execPath, args: [fixture('shop'), `--name=${name}`]});
		const servers = Object.fromEntries(names.map(name => [name, server(name)]));
		writeFileSync(join(home.cwd, 'bridge.json'), JSON.stringify({packs: 'packs', expose: 'both', servers}));
	};
	const pack = (value: number): void =>
		writeFileSync(join(home.cwd, 'packs', 'number.mjs'), `export const now = () => ${value};`);
	mkdirSync(join(home.cwd, 'packs'));
	configure('one');
	pack(1);
	t.is((await home.run('trust')).code, 0);
	const hub = startBridge(['hub'], {cwd: home.cwd, env: home.env});
	t.teardown(() => hub.child.kill('SIGKILL'));
	await hub.shakeHands();
	return {home, hub, configure, pack};
}

let ids = 0;
const text = async (hub: Running, method: string, params = {}): Promise<string> =>
	JSON.stringify(await hub.request(`id-${++ids}`, method, params));
const numberOf = (hub: Running): Promise<string> =>
	text(hub, 'tools/call', {name: 'run', arguments: {command: 'number.now()'}});

test.serial(
	'a running hub keeps the old configuration when its file changes, until the change is trusted [SEC-D7]',
	async t => {
		const {home, hub, configure} = await startFound(t);
		t.true((await text(hub, 'tools/list')).includes('one__'));
		// stderr may arrive after the response.
		await until(() => logged(hub, 'config.file').length > 0);
		t.is(logged(hub, 'config.file')[0]?.file, join(home.cwd, 'bridge.json'));
		configure('two');
		await until(() => logged(hub, 'config.untrusted').length > 0);
		t.regex(
			String(logged(hub, 'config.untrusted')[0]?.msg),
			/has changed since it was trusted\. The previous configuration stays in effect\. Review it, then run: bridge trust .*bridge\.json$/,
		);
		t.true((await text(hub, 'tools/list')).includes('one__'));
		await home.run('trust');
		await until(() => logged(hub, 'config.loaded').length > 0);
		await until(async () => (await text(hub, 'tools/list')).includes('two__'));
	},
);

test.serial(
	'a running hub keeps its packs when their files change, until they are trusted [SEC-D7]',
	async t => {
		const {home, hub, pack} = await startFound(t);
		t.regex(await numberOf(hub), /"1"/);
		pack(2);
		await until(() => logged(hub, 'run.packs.untrusted').length > 0);
		t.regex(String(logged(hub, 'run.packs.untrusted')[0]?.msg), /bridge trust .*bridge\.json$/);
		t.regex(await numberOf(hub), /"1"/);
		await home.run('trust');
		await until(async () => /"2"/.test(await numberOf(hub)));
		t.pass();
	},
);

test.serial('no command fails on a pack that links to an unreadable file [SEC-D7]', async t => {
	const home = newHome(t);
	writeFileSync(join(home.cwd, 'bridge.json'), JSON.stringify({packs: 'packs'}));
	mkdirSync(join(home.cwd, 'packs'));
	const unreadable = '/proc/self/mem';
	symlinkSync(existsSync(unreadable) ? unreadable : 'nothing', join(home.cwd, 'packs', 'a.mjs'));
	for (const args of [['config'], ['trust'], ['hub']]) {
		const {code, stderr} = await home.run(...args);
		t.is(code, 0, stderr);
	}
});
