import {randomBytes} from 'node:crypto';
import {BoundedMap} from '../../util/bounded-map.js';

/** Browsers that may be logged in at a time. The oldest login is evicted for the next. */
const MAX_LOGINS = 1000;
export const LOGIN_LIFETIME_MS = 24 * 3600 * 1000;
const SEAL_BINDING = 'login';

/** The state that replicas share: the seal of cookies, and the cookies that were logged out. */
export type SharedLogins = {
	readonly seal: {
		seal(text: string, binding: string): string;
		unseal(sealed: string, binding: string): string | undefined;
	};
	readonly revoked: {
		add(id: string): void;
		has(id: string): boolean;
		confirm(id: string): Promise<void> | undefined;
	};
};

type LoginRecord = {readonly until: number; readonly token: string; readonly id: string};

export class LoginCookies {
	readonly #shared: () => SharedLogins | undefined;
	readonly #now: () => number;
	readonly #logins = new BoundedMap<string, LoginRecord>(MAX_LOGINS);

	constructor(shared: () => SharedLogins | undefined = () => undefined, now: () => number = Date.now) {
		this.#shared = shared;
		this.#now = now;
	}

	issue(token: string): string {
		const login = {until: this.#now() + LOGIN_LIFETIME_MS, token, id: randomBytes(18).toString('base64url')};
		const shared = this.#shared();
		if (shared) return shared.seal.seal(JSON.stringify(login), SEAL_BINDING);
		const value = randomBytes(32).toString('base64url');
		this.#logins.set(value, login);
		return value;
	}

	/** Returns the token of a cookie, unless the cookie has expired or was logged out. */
	tokenOf(value: string): string | undefined {
		const login = this.#read(value);
		if (!login || this.#now() >= login.until) return;
		return this.#shared()?.revoked.has(login.id) ? undefined : login.token;
	}

	/**
	 * Looks up whether a cookie was logged out at another replica. Returns undefined if there is no need to
	 * wait.
	 */
	confirm(value: string): Promise<void> | undefined {
		const login = this.#shared() && this.#read(value);
		return login && this.#shared()?.revoked.confirm(login.id);
	}

	revoke(value: string): void {
		const login = this.#read(value);
		if (!login) return;
		this.#logins.delete(value);
		this.#shared()?.revoked.add(login.id);
	}

	#read(value: string): LoginRecord | undefined {
		const shared = this.#shared();
		if (!shared) return this.#logins.get(value);
		const text = shared.seal.unseal(value, SEAL_BINDING);
		if (text === undefined) return;
		// The seal proves that a replica wrote it. Older versions wrote a list without an id.
		const login = JSON.parse(text) as Partial<LoginRecord>;
		return typeof login.id === 'string' ? (login as LoginRecord) : undefined;
	}
}
