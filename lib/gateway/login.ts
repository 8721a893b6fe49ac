import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Refused} from '../http/refuse.js';
import {WholeBody} from '../http/whole-body.js';
import {Guesses} from './guesses.js';
import {LoginCookies, type SharedLogins} from './login-cookies.js';
import {only} from './replies.js';

const MAX_FORM = 4096;

export type LoginOptions = {
	/** Whether there is anything to know. */
	readonly isNeeded: () => boolean;
	readonly isToken: (text: string) => boolean;
	/** Answers with what people see who are logged in. */
	readonly page: (res: ServerResponse) => void;
	/** Its name. */
	readonly cookie?: string;
	/** The state that replicas share, where there are any. */
	readonly shared?: () => SharedLogins | undefined;
	/** The system clock, in milliseconds. */
	readonly now?: () => number;
};

/** The way in for people with a browser, which cannot send a token with what it asks for: a form, and a cookie then. */
export class Login {
	readonly #options: LoginOptions;
	/** Each cookie belongs to a token, and is invalid once that is removed from the configuration. */
	readonly #cookies: LoginCookies;
	readonly #guesses = new Guesses();

	constructor(options: LoginOptions) {
		this.#options = options;
		this.#cookies = new LoginCookies(options.shared, options.now);
	}

	get #cookie(): string {
		return this.#options.cookie ?? 'bridge_login';
	}

	/** The values of the login cookies of a request: one, as a rule. */
	#valuesIn({headers: {cookie = ''}}: IncomingMessage): string[] {
		const given = cookie.split(';').map(part => part.trim().split('='));
		return given.flatMap(([name, value = '']) => (name === this.#cookie ? [value] : []));
	}

	/** Whether a request comes from a browser that is logged in. */
	knows(req: IncomingMessage): boolean {
		return this.tokenOf(req) !== undefined;
	}

	/** The token that the browser logged in with, as long as it is configured. */
	tokenOf(req: IncomingMessage): string | undefined {
		if (req.headers.cookie === undefined) return;
		const tokens = this.#valuesIn(req).map(value => this.#cookies.tokenOf(value));
		return tokens.find(token => token !== undefined && this.#options.isToken(token));
	}

	/** Looks up in the store whether the cookie of a request was logged out. Returns undefined if there is no need to wait. */
	confirm(req: IncomingMessage): Promise<void> | undefined {
		if (req.headers.cookie === undefined) return;
		const doubts = this.#valuesIn(req).map(value => this.#cookies.confirm(value));
		return doubts.some(doubt => doubt !== undefined) ? Promise.all(doubts).then(() => {}) : undefined;
	}

	/** Ends a login: every copy of its cookie becomes invalid. */
	logOut(req: IncomingMessage, res: ServerResponse): Refused | undefined {
		const wrong = only(req, ['POST']);
		if (wrong) return wrong;
		for (const value of this.#valuesIn(req)) this.#cookies.revoke(value);
		const cookie = `${this.#cookie}=; ${ATTRIBUTES}; Max-Age=0`;
		res.writeHead(303, {location: '/', 'set-cookie': cookie, 'content-length': 0}).end();
		return;
	}

	/** Answers a request for the first page. */
	serve(req: IncomingMessage, res: ServerResponse): Refused | undefined {
		const {isNeeded, page} = this.#options;
		if (req.method === 'POST' && isNeeded()) return this.#logIn(req, res);
		const wrong = only(req, isNeeded() ? ['GET', 'POST'] : ['GET']);
		if (wrong) return wrong;
		if (isNeeded() && !this.knows(req)) html(res, 200, form(''));
		else page(res);
		return;
	}

	/** Lets a browser in that has shown a token, and sends it to the first page. */
	letIn(res: ServerResponse, token: string): void {
		const address = res.req.socket.remoteAddress ?? '';
		const waitMs = this.#guesses.waitMs(address);
		if (waitMs > 0) {
			const seconds = Math.ceil(waitMs / 1000);
			res.setHeader('retry-after', String(seconds));
			html(res, 429, form(`There were too many wrong tokens. Try again in ${seconds} s.`));
			return;
		}
		if (!this.#options.isToken(token)) {
			this.#guesses.failed(address);
			html(res, 401, form('This is not a token of this gateway. Use one of the configured tokens.'));
			return;
		}
		const cookie = `${this.#cookie}=${this.#cookies.issue(token)}; ${ATTRIBUTES}`;
		res.writeHead(303, {location: '/', 'set-cookie': cookie, 'content-length': 0}).end();
	}

	#logIn(req: IncomingMessage, res: ServerResponse): Refused | undefined {
		const type = req.headers['content-type'] ?? '';
		if (!type.startsWith('application/x-www-form-urlencoded'))
			return {status: 415, message: 'Unsupported Media Type: this is a form'};
		const body = new WholeBody(MAX_FORM);
		req.on('data', (chunk: Buffer) => body.add(chunk));
		req.on('end', () => {
			this.letIn(res, new URLSearchParams(body.isTooLarge ? '' : body.bytes().toString()).get('token') ?? '');
		});
		return;
	}
}

const ATTRIBUTES = 'HttpOnly; SameSite=Strict; Path=/';

const form = (problem: string): string =>
	`<main><h1>bridge</h1><form method="post" action="/"><label for="token">Token</label><input id="token" type="password" name="token" autocomplete="current-password" autofocus><p role="alert">${problem}</p><button>Log in</button></form></main>`;

const style = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{margin:0;min-height:100vh;display:grid;place-items:center;background:Canvas;color:CanvasText}
main{width:min(20rem,90vw)}h1{font-size:1.25rem;margin:0 0 1rem}label{display:block;margin-bottom:.25rem}input,button{font:inherit;width:100%;box-sizing:border-box;padding:.5rem .6rem;border-radius:6px;border:1px solid GrayText}
button{margin-top:.75rem;cursor:pointer}p{min-height:1.5em;margin:.25rem 0;color:#c62828}`;

function html(res: ServerResponse, status: number, content: string): void {
	const body = Buffer.from(
		`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>bridge</title><style>${style}</style><body>${content}</body></html>\n`,
	);
	res
		.writeHead(status, {
			'content-type': 'text/html; charset=utf-8',
			'content-length': body.length,
			'cache-control': 'no-store',
			'content-security-policy':
				"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
			'x-content-type-options': 'nosniff',
		})
		.end(body);
}
