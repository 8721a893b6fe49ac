import {randomBytes} from 'node:crypto';
import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import {Guard} from '../http/guard.js';
import {type HttpError, sendHttpError} from '../http/http-error.js';
import {Login} from '../http/login/login.js';
import {admitSameUser} from '../http/same-user.js';
import {addressOf, listenHttp} from '../http/server.js';
import {splitTarget} from '../http/target.js';
import type {TrafficSource} from './traffic-source.js';
import {ViewRoutes} from './view-routes.js';

type ViewServer = {
	/** The URL of the page with the login token. */
	readonly url: URL;
	readonly server: Server;
};

type ViewServerOptions = {
	readonly source: TrafficSource;
	/** The folder with the files of the page. */
	readonly page: URL;
	/** The origin of the gateway of the traffic. */
	readonly gateway?: string | undefined;
	/** 0 selects a free port. */
	readonly port: number;
	/** The token of this user, on systems that do not list the owners of connections. */
	readonly userToken?: string | undefined;
	/** Receives errors that a handler threw. */
	readonly onBug: (error: unknown) => void;
};

/**
 * Serves the page on this machine. The printed URL contains a token, since other accounts of the machine must
 * not read the log.
 */
export async function serveView({
	source,
	page,
	gateway,
	port,
	userToken,
	onBug,
}: ViewServerOptions): Promise<ViewServer> {
	const token = randomBytes(16).toString('hex');
	const guard = new Guard({hosts: [], origins: [], tokens: [token, ...(userToken ? [userToken] : [])]});
	const routes = new ViewRoutes({source, page, gateway, hasStatus: false});
	// Cookies are shared by all ports of a host, and several instances may run.
	const cookie = `bridge_view_${randomBytes(4).toString('hex')}`;
	const isToken = (text: string): boolean => guard.isToken(text);
	const login = new Login({isRequired: () => true, isToken, servePage: routes.servePage, cookieName: cookie});
	const route = (req: IncomingMessage, res: ServerResponse): HttpError | undefined => {
		const rejection = guard.validate(req);
		if (rejection) return rejection;
		const {path, query} = splitTarget(req.url ?? '');
		const queryToken = query.get('token');
		if (path === '/' && queryToken !== null) return void login.submitToken(res, queryToken);
		if (path === '/') return login.serveFrontPage(req, res);
		if (!path.startsWith('/view/')) return {status: 404, message: 'Not Found'};
		if (!guard.isAuthorized(req, false) && !login.isLoggedIn(req)) return notLoggedIn;
		return routes.serve(req, res);
	};
	const server = await listenHttp({
		host: '127.0.0.1',
		port,
		onBug,
		admit: userToken ? undefined : admitSameUser({remedy: 'Open the page as the user who runs bridge view.'}),
		handle(req, res) {
			const error = route(req, res);
			if (error) sendHttpError(res, error);
		},
	});
	const {host, port: boundPort} = addressOf(server);
	return {url: new URL(`http://${host}:${boundPort}/?token=${token}`), server};
}

const notLoggedIn: HttpError = {
	status: 401,
	message: 'Unauthorized: open the address that bridge view printed',
};
