import {fixtureFile, isModern, type Version} from './eras.js';
import {type Listening, type Owner, startListening} from './listening.js';
import type {Command} from './peers.js';

export type Mode = 'stdio' | 'http' | 'sse' | 'ws';

export interface FixtureOptions {
	readonly mode: Mode;
	readonly version: Version;
	readonly env?: Readonly<Record<string, string>>;
	readonly port?: number;
	/** The stateless fixture also answers clients of the handshake era. */
	readonly speaksBothEras?: boolean;
}

/** How the fixture server of that version is started; behind a network it says on stderr where it listens. */
export function fixtureCommand({mode, version, env, port = 0, speaksBothEras}: FixtureOptions): Command {
	if (isModern(version)) {
		const era = speaksBothEras ? 'serve' : 'reject';
		const args = [fixtureFile('fixture-modern'), ...(mode === 'http' ? ['http', String(port), era] : [era])];
		return {command: process.execPath, args, env: {...env}};
	}

	const args = [fixtureFile('fixture-handshake'), mode, String(port)];
	return {command: process.execPath, args, env: {FIXTURE_VERSIONS: version, ...env}};
}

/** Starts a fixture server behind a network. It ends with the test. */
export function startFixture(t: Owner, options: FixtureOptions): Promise<Listening> {
	return startListening(t, fixtureCommand(options), /^listening (\d+)$/m);
}

/** Where a client of that transport finds the fixture. */
export function fixtureUrl(mode: Exclude<Mode, 'stdio'>, port: number): string {
	const paths = {http: '/mcp', sse: '/sse', ws: '/'};
	return `${mode === 'ws' ? 'ws' : 'http'}://127.0.0.1:${port}${paths[mode]}`;
}
