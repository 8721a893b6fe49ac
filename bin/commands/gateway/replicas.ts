import type {Config} from '../../../lib/config/schema.js';
import type {Log} from '../../../lib/core/log.js';
import {Replicas} from '../../../lib/gateway/cluster/replicas.js';
import {readReplicaSecrets} from '../../../lib/gateway/cluster/secrets.js';

/**
 * What a gateway has to do with others behind the same address, where a secret says that there are some. What it had to do
 * with them `before` goes on.
 */
export async function configureReplicas(
	{secret, advertise, store, services}: Config,
	log: Log,
	previous?: Replicas,
): Promise<Replicas | undefined> {
	if (secret === undefined) return;
	const secrets = await readReplicaSecrets(secret);
	const fixed = [...services.values()].find(({transport, enabled}) => enabled && transport !== 'http');
	if (!advertise && fixed)
		log.warn(
			'replica.unreachable',
			`Sessions with ${fixed.name} live on one replica, and nobody is told where this one is. Set advertise: http://HOST:PORT, or have the balancer send each session to one replica.`,
			{service: fixed.name},
		);
	const replicas = previous ?? new Replicas(log);
	await replicas.configure({secrets, advertise, store});
	return replicas;
}
