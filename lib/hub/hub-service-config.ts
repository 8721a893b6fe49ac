import type {ServiceConfig} from '../config/schema.js';
import {ALL_SERVICES} from '../http/target.js';

/** The hub as a service of the gateway. It sets no limits: those of the upstreams apply. */
export const hubServiceConfig: ServiceConfig = {
	name: ALL_SERVICES,
	transport: 'stdio',
	isTransportGuessed: false,
	url: undefined,
	command: undefined,
	args: [],
	env: {},
	cwd: undefined,
	headers: {},
	accept: '',
	contentType: '',
	targetVersion: undefined,
	clientVersion: undefined,
	cacheTools: false,
	timeoutMs: 0,
	enabled: true,
	insecure: false,
	shared: false,
	strict: false,
	passAuthorization: false,
};
