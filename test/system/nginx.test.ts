import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import test from 'ava';
import {parseAllDocuments} from 'yaml';
import {eventsOf} from '../e2e/replicas/events.js';
import {roam, startReplicas} from '../e2e/replicas/support.js';
import {freePort} from '../helpers/free-port.js';
import {program, RunningGateway} from '../helpers/gateway.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {startUpstream} from '../helpers/upstream.js';
import {need} from './tools.js';

const example = (name: string): string =>
	readFileSync(fileURLToPath(new URL(`../../../deploy/${name}`, import.meta.url)), 'utf8');

test('the nginx example routes calls and streams to any replica [M1] [M3]', async t => {
	need('nginx', 'nginx-light');
	const upstream = await startUpstream(t);
	const servers = {http: {url: upstream.url}, puppet: program('puppet')};
	// The workers of nginx run as another user.
	const token = 'a-token-for-the-balancer';
	const replicas = await startReplicas(t, 2, {servers, tokens: [token]});
	const port = await freePort();
	const folder = tempFolder(t);
	const lines = replicas.map(gateway => `server 127.0.0.1:${gateway.port};`);
	const text = example('nginx.conf')
		.replace('listen 7411', `listen 127.0.0.1:${port}`)
		.replace(/^\t\tserver bridge-1[\s\S]+?(?=\t\tkeepalive)/m, `${lines.join('\n')}\n`);
	const file = join(folder, 'nginx.conf');
	writeFileSync(file, `daemon off; pid ${folder}/pid; error_log stderr;\n${text}`);
	const nginx = spawn('nginx', ['-p', folder, '-c', file, '-e', 'stderr'], {stdio: 'ignore'});
	t.teardown(async () => {
		nginx.kill('SIGQUIT');
		await once(nginx, 'close');
	});
	const [one] = replicas;
	if (!one) throw new Error('There are two.');
	const balanced = new RunningGateway(one.running, one.file, new URL(`http://127.0.0.1:${port}`));
	const isUp = (): Promise<boolean> =>
		balanced.fetch('/healthz').then(
			({status}) => status === 200,
			() => false,
		);
	while (!(await isUp())) await sleep(20);
	const headers = {'x-bridge-token': token};
	const client = await roam(balanced, 'http', headers);
	const child = await roam(balanced, 'puppet', headers);
	for (let n = 0; n < 10; n++) {
		t.truthy((await client.ask(balanced, 'tools/call', {name: 'echo'})).result);
		t.deepEqual((await child.ask(balanced, 'echo', {n})).result, {n});
	}
	const listening = await eventsOf(t, balanced, client);
	await upstream.meets('GET');
	upstream.say({method: 'notifications/message', params: {level: 'info', data: 'now'}});
	t.regex(await listening.next(), /"data":"now"/);
	listening.close();
});

test('the Kubernetes manifests define separate probes, a disruption budget and a non-root user', t => {
	const documents = parseAllDocuments(example('kubernetes.yaml')).map(document => document.toJS());
	t.deepEqual(
		documents.map(({kind}) => kind),
		['ConfigMap', 'Deployment', 'Service', 'PodDisruptionBudget'],
	);
	const {spec} = documents[1].spec.template;
	const [container] = spec.containers;
	t.is(container.livenessProbe.httpGet.path, '/healthz');
	t.regex(container.readinessProbe.exec.command[2], /\/readyz/);
	t.true(spec.securityContext.runAsNonRoot);
	t.is(documents[3].spec.maxUnavailable, 1);
});
