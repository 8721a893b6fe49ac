import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {objectOf} from '../../lib/util/json.js';
import {readLog} from '../helpers/temp-folder.js';
import {type Command, everything, temporaryFolder, throughBridge} from './peers.js';
import {newMarker} from './processes.js';
import {loadSdk, type SdkClient} from './sdk.js';

/** Connects a real client to a server. */
async function connected(t: ExecutionContext, server: Command, flags: readonly string[] = []) {
	const sdk = await loadSdk();
	const {command, args} = server;
	const [program = '', ...rest] = args;
	const transport = new sdk.StdioClientTransport({
		command,
		args: [program, ...flags, ...rest],
		stderr: 'ignore',
	});
	const client = new sdk.Client({name: 'test', version: '1'}, {capabilities: {}});
	/** Resolves with the first `tools/list_changed` notification. */
	const listChanged = new Promise<void>(resolve => {
		client.setNotificationHandler(sdk.schema('ToolListChangedNotificationSchema'), () => resolve());
	});
	await client.connect(transport);
	t.teardown(() => client.close());
	return {client, listChanged};
}

async function directList(t: ExecutionContext): Promise<unknown> {
	const {client} = await connected(t, everything(newMarker(t)));
	const list = await client.listTools();
	await client.close();
	return list;
}

const hasListChanged = (client: SdkClient): unknown =>
	objectOf(objectOf(client.getServerCapabilities()).tools).listChanged;

test.serial('serves tools/list from the cache: only bridge requests the list of the real server', async t => {
	t.timeout(60_000);
	const file = join(await temporaryFolder(t), 'traffic.ndjson');
	const server = throughBridge(everything(newMarker(t)));
	const {client, listChanged} = await connected(t, server, ['--cache-tools', '--log', file]);
	t.true(hasListChanged(client));
	await listChanged;
	const [first, second] = [await client.listTools(), await client.listTools()];
	t.deepEqual(first, second);
	t.deepEqual(first, await directList(t));
	await client.close();
	const lists = readLog(file).filter(({message}) => objectOf(message).method === 'tools/list');
	const count = (side: string, from: string): number =>
		lists.filter(line => line.side === side && line.from === from).length;
	t.is(count('client', 'client'), 2);
	t.is(count('upstream', 'client'), 0);
	t.true(count('upstream', 'bridge') >= 1);
	const responses = readLog(file).filter(
		({from, message}) => from === 'bridge' && 'result' in objectOf(message),
	);
	t.is(responses.length, 2);
});
