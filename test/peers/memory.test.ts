import {join} from 'node:path';
import test from 'ava';
import {serverFile, temporaryFolder} from './peers.js';
import {compare, type Script, type Session} from './session.js';

const uri = 'memory://knowledge-graph';

const entities = [
	{
		name: 'Ada',
		entityType: 'person',
		observations: ['wrote the first program', 'likes "quotes" and \\ and ☃'],
	},
	{name: 'Engine', entityType: 'machine', observations: []},
];

async function greet({client, note, step}: Session): Promise<void> {
	note('server', [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]);
	await step('tools', client.listTools());
	await step('resources', client.listResources());
	await step('templates', client.listResourceTemplates());
	await step('empty', client.readResource({uri}));
	await step('subscribe', client.subscribeResource({uri}));
}

async function remember({client, step}: Session): Promise<void> {
	const call = (name: string, args: object) => step(name, client.callTool({name, arguments: args}));
	await call('create_entities', {entities});
	await call('create_entities', {entities});
	await call('create_relations', {relations: [{from: 'Ada', to: 'Engine', relationType: 'programs'}]});
	await call('add_observations', {
		observations: [{entityName: 'Engine', contents: ['never built', 'of brass']}],
	});
	await call('add_observations', {observations: [{entityName: 'Nobody', contents: ['not there']}]});
	await call('search_nodes', {query: 'brass'});
	await call('open_nodes', {names: ['Ada']});
	await call('read_graph', {});
	await step('read', client.readResource({uri}));
	await call('delete_observations', {deletions: [{entityName: 'Engine', observations: ['never built']}]});
	await call('delete_relations', {relations: [{from: 'Ada', to: 'Engine', relationType: 'programs'}]});
	await step('unsubscribe', client.unsubscribeResource({uri}));
	await call('delete_entities', {entityNames: ['Engine']});
	await call('create_entities', {entities: 'not a list'});
	await call('read_graph', {});
}

const script: Script = {
	capabilities: {},
	async play(session) {
		await greet(session);
		await remember(session);
	},
};

test.serial(
	'an SDK session with server-memory is identical through bridge and leaves no process',
	async t => {
		t.timeout(60_000);
		await compare(t, async () => {
			const marker = await temporaryFolder(t);
			// bridge does not pass on this variable by default, so it reaches the server with `--env`.
			const env = {MEMORY_FILE_PATH: join(marker, 'memory.jsonl')};
			return {server: {command: process.execPath, args: [serverFile('memory')], env}, script, marker};
		});
	},
);
