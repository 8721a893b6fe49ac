import {once} from 'node:events';
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {checkMemory, connectStdio, memoryCommand} from './clients.js';
import {execute, manifest, poll, start, stop, unusedPort} from './execute.js';
import {emptyProject} from './installed.js';
import {peerFile} from './peers.js';
import {expect} from './report.js';

/** Starts the program with `npx -y mcp-stream-bridge -- COMMAND`, from the tarball and by name. */
export async function checkNpx(tarball: string, folder: string): Promise<string> {
	await wrapWith(
		['-y', `file:${tarball}`],
		emptyProject(join(folder, 'from-tarball')),
		join(folder, 'cache-tarball'),
	);
	return 'npx -y file:TARBALL -- COMMAND';
}

/** Publishes the tarball to a registry on the loopback address, and starts it by its name. */
export async function checkByName(tarball: string, folder: string): Promise<string> {
	const registry = await startRegistry(join(folder, 'registry'));
	try {
		const project = emptyProject(join(folder, 'by-name'));
		writeFileSync(join(project, '.npmrc'), npmrc(registry.url));
		await execute('npm', ['publish', tarball], {cwd: project});
		const found = await execute('npm', ['view', manifest.name, 'version'], {cwd: project});
		expect(found.trim() === manifest.version, `The registry has version ${found.trim()}.`);
		return await wrapWith(['-y', manifest.name], project, join(folder, 'cache-by-name'));
	} finally {
		await registry.stop();
	}
}

async function wrapWith(npx: readonly string[], cwd: string, cache: string): Promise<string> {
	const {command, args, env} = memoryCommand(join(cwd, 'memory.json'));
	const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
	// With an empty cache, npx cannot start a program of an earlier run.
	const prefix = [`--cache=${cache}`, ...npx];
	const client = await connectStdio('npx', [...prefix, ...variables, '--', command, ...args], cwd);
	try {
		await checkMemory(client);
		return `npx ${npx.join(' ')} -- COMMAND`;
	} finally {
		await client.close();
	}
}

/** npm requires a token to publish. verdaccio accepts any, since its configuration allows all users to publish. */
const npmrc = ({host, href}: URL): string => `registry=${href}\n//${host}/:_authToken=any\n`;

async function startRegistry(folder: string): Promise<{url: URL; stop: () => Promise<void>}> {
	mkdirSync(folder);
	const uplink = (await execute('npm', ['config', 'get', 'registry'], {cwd: folder})).trim();
	const config = join(folder, 'config.json');
	const access = {access: '$all', publish: '$all'};
	writeFileSync(
		config,
		// YAML includes JSON.
		JSON.stringify({
			storage: join(folder, 'storage'),
			uplinks: {default: {url: uplink, timeout: '60s', cache: false}},
			packages: {[manifest.name]: access, '**': {access: '$all', proxy: 'default'}},
			log: {type: 'stdout', format: 'json', level: 'warn'},
		}),
	);
	const port = await unusedPort();
	const url = new URL(`http://127.0.0.1:${port}/`);
	const program = peerFile('verdaccio/bin/verdaccio');
	expect(existsSync(program), 'verdaccio is not installed.');
	const args = [program, '--config', config, '--listen', url.host];
	const server = start(process.execPath, args, {cwd: folder});
	let log = '';
	for (const stream of [server.stdout, server.stderr])
		stream?.setEncoding('utf8').on('data', chunk => {
			log = (log + chunk).slice(-2000);
		});
	const exited = once(server, 'exit').then(() => Promise.reject(new Error(`verdaccio exited:\n${log}`)));
	exited.catch(() => {});
	const ready = poll('The start of verdaccio', async () =>
		(await fetch(new URL('-/ping', url))).ok ? true : undefined,
	);
	await Promise.race([ready, exited]);
	return {url, stop: () => stop(server)};
}
