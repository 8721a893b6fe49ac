import type {Config} from '../../../lib/config/schema.js';
import type {Log} from '../../../lib/core/log.js';
import {Replicas} from '../../../lib/gateway/cluster/replicas.js';
import {readReplicaSecrets} from '../../../lib/gateway/cluster/secrets.js';

/**
 * Configures the replicas behind the same address, if a secret is set. Updates `previous` instead of creating
 * a new object.
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
			`Sessions with ${fixed.name} stay on one replica, and the other replicas cannot reach this one. Set advertise: http://HOST:PORT, or configure sticky sessions in the load balancer.`,
			{service: fixed.name},
		);
	const replicas = previous ?? new Replicas(log);
	await replicas.configure({secrets, advertise, store});
	return replicas;
}
