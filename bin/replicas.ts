import type {Config} from '../lib/config/schema.js';
import type {Log} from '../lib/log.js';
import {Replicas} from '../lib/replicas/replicas.js';
import {secretsOf} from '../lib/replicas/secrets.js';
import {Store} from '../lib/replicas/store.js';

/** What a gateway has to do with others behind the same address, where a secret says that there are some. */
export async function replicasOf(
	{secret, advertise, store, services}: Config,
	log: Log,
): Promise<Replicas | undefined> {
	if (secret === undefined) return;
	const secrets = await secretsOf(secret);
	const fixed = [...services.values()].find(({transport, enabled}) => enabled && transport !== 'http');
	if (!advertise && fixed)
		log.warn(
			'replica.unreachable',
			`Sessions with ${fixed.name} live on one replica, and nobody is told where this one is. Set advertise: http://HOST:PORT, or have the balancer send each session to one replica.`,
			{service: fixed.name},
		);
	const shared = store && new Store({url: store, secrets, log});
	await shared?.open();
	return new Replicas({secrets, advertise, log, store: shared});
}
