import {logBug} from '../core/log.js';
import {pageFolder} from '../run-time-files.js';
import {LiveSource} from '../view/live-source.js';
import {ViewRoutes} from '../view/view-routes.js';
import type {GatewayOptions} from './gateway.js';

export function createLiveView({live, log, page}: GatewayOptions, canLogOut: () => boolean): ViewRoutes {
	const {files = pageFolder, worker} = page ?? {};
	const onBug = (error: Error): void => logBug(log, error);
	const source = new LiveSource({
		name: 'live traffic',
		subscribe: onLine => live.subscribe(onLine),
		worker,
		onBug,
	});
	return new ViewRoutes({source, page: files, hasStatus: true, canLogOut});
}
