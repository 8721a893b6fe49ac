// Runs the build steps of the Dockerfile without Docker and starts the result: `npm run image:check`.
import {mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {execute, manifest, poll, root, start, stop, unusedPort} from './execute.js';
import {buildImage, type Image} from './image-build.js';
import {checkInstalledSize} from './installed.js';
import {expect, runSteps} from './report.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridge-image-check-')));
let image: Image = {root: folder, entrypoint: []};

/** The entry point with the paths of the image replaced by those on disk. tini is not installed here. */
function command(): string[] {
	const [node, ...words] = image.entrypoint.slice(image.entrypoint.indexOf('--') + 1);
	expect(node === 'node', `The entry point starts ${node}, not node.`);
	return words.map(word => (word.startsWith('/') ? join(image.root, word) : word));
}

async function checkGateway(): Promise<string> {
	const port = await unusedPort();
	const file = join(folder, 'bridge.json');
	writeFileSync(file, JSON.stringify({listen: `127.0.0.1:${port}`, servers: {}}));
	const gateway = start(process.execPath, [...command(), 'gateway', '--config', file], {cwd: folder});
	gateway.stdout?.resume();
	gateway.stderr?.resume();
	try {
		const url = `http://127.0.0.1:${port}/healthz`;
		await poll('The start of the gateway', async () => ((await fetch(url)).ok ? true : undefined));
		return 'healthz responds with 200';
	} finally {
		await stop(gateway);
	}
}

const isGood = await runSteps([
	[
		'build steps of the Dockerfile',
		async () => {
			const report = (line: string): void => void process.stdout.write(`      ${line}\n`);
			mkdirSync(join(folder, 'stages'));
			image = await buildImage({context: root, folder: join(folder, 'stages'), report});
			return checkInstalledSize(join(image.root, 'app', 'node_modules'));
		},
	],
	[
		'version',
		async () => {
			const output = await execute(process.execPath, [...command(), '--version'], {cwd: folder});
			expect(output.trim() === manifest.version, `The image printed ${output}.`);
			return manifest.version;
		},
	],
	['gateway', checkGateway],
]);
rmSync(folder, {recursive: true, force: true});
process.exitCode = isGood ? 0 : 1;
