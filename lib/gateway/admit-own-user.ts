import {type AdmitRequest, admitSameUser} from '../http/same-user.js';
import {parseTarget} from '../http/target.js';
import type {Gateway} from './gateway.js';

/**
 * Admits connections of this user, and of root, to a gateway that has no tokens. A Unix socket is protected
 * by its mode. Health checks are exempt: their response is the same for all users.
 */
export function admitOwnUser(gateway: Gateway): AdmitRequest {
	const check = admitSameUser({
		log: gateway.log,
		remedy:
			'Connect as the user who runs the gateway; or set tokens in its configuration, and send one of them in X-Bridge-Token.',
	});
	return req => {
		if (gateway.guard.needsToken || gateway.config.listen.path !== undefined) return;
		return isHealthCheck(req.url ?? '') ? undefined : check(req);
	};
}

const isHealthCheck = (url: string): boolean =>
	url.startsWith('/healthz') && parseTarget(url).kind === 'healthz';
