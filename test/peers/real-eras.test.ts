import {fileURLToPath} from 'node:url';
import test from 'ava';
import {connect} from './era-clients.js';
import {releases, type Version} from './eras.js';
import {direct, textOf} from './pair.js';
import {peerUrl, throughBridge} from './peers.js';
import {newMarker} from './processes.js';

/* Releases of server-everything with the SDK of their time, with clients of all versions. */

interface ServerRelease {
	readonly version: Version;
	readonly folder: string;
	/** In later releases the tools depend on the client's capabilities. */
	readonly tools?: number;
}

const servers: readonly ServerRelease[] = [
	{version: '2024-11-05', folder: 'everything-2024-11-05', tools: 5},
	{version: '2025-03-26', folder: 'everything-2025-03-26', tools: 8},
	{version: '2025-06-18', folder: 'everything-2025-06-18', tools: 8},
	{version: '2025-11-25', folder: '@modelcontextprotocol/server-everything'},
];

for (const {version, folder, tools: count} of servers) {
	for (const release of releases.filter(each => !direct || each.version === version)) {
		test.serial(`real server-everything of ${version} serves a client of SDK ${release.sdk}`, async t => {
			t.timeout(60_000);
			const file = fileURLToPath(peerUrl(`${folder}/dist/index.js`));
			const server = {command: process.execPath, args: [file, 'stdio', newMarker(t)]};
			const client = await connect(t, release, direct ? server : throughBridge(server));
			t.is(client.negotiated(), release.version);
			const {tools} = await client.sdk.listTools();
			t.true(tools.some(tool => tool.name === 'echo'));
			t.is(tools.length, count ?? tools.length);
			const echo = await client.callTool('echo', {message: 'é ☃'});
			t.regex(textOf(echo) ?? '', /^Echo: é ☃$/);
			const {prompts} = await client.sdk.listPrompts();
			t.true(prompts.length > 0);
			const {resources} = await client.sdk.listResources();
			const {contents} = await client.sdk.readResource({uri: resources[0]?.uri ?? ''});
			t.is(contents.length, 1);
		});
	}
}
