import {HttpClient} from './http-client.js';
import type {HttpSession} from './http-session.js';
import {startInstance, stopInstance} from './instance.js';
import type {Limits} from './options.js';
import {proxyUsage} from './process-stats.js';
import {SMALL, type Values} from './slices.js';
import type {Target} from './target.js';

const LIMIT_MS = 60_000;
/** Concurrent handshakes: more would measure the accept queue of the socket. */
const AT_ONCE = 50;

const isAnswered = async (session: HttpSession, tool: string): Promise<boolean> => {
	try {
		return (await session.call(tool, SMALL)).ok;
	} catch {
		return false;
	}
};

/**
 * Opens many concurrent sessions with some calls each. Counts the failures, and measures the memory while
 * all are open.
 */
export const measureMany = async (target: Target, limits: Limits): Promise<Values> => {
	const instance = await startInstance(target);
	const {client, folder, tools} = instance;
	const sessions: HttpSession[] = [];
	let errors = 0;
	const open = async (): Promise<void> => {
		while (client instanceof HttpClient && sessions.length < limits.sessions) {
			const session = client.another();
			sessions.push(session);
			await session.initialize('2025-11-25', LIMIT_MS).catch(() => errors++);
		}
	};
	const use = async (session: HttpSession): Promise<void> => {
		for (let call = 0; call < limits.sessionCalls; call++) {
			errors += (await isAnswered(session, tools.echo)) ? 0 : 1;
		}
	};
	try {
		await Promise.all(Array.from({length: AT_ONCE}, open));
		await Promise.all(sessions.map(use));
		return {sessionErrors: errors, sessionRss: proxyUsage(client.pid, folder).rssMegabytes};
	} finally {
		for (const session of sessions) {
			session.close();
		}
		await stopInstance(instance);
	}
};
