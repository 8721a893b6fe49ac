import {fixtureFile, isModern, type Version} from './eras.js';
import {type Listening, type Owner, startListening} from './listening.js';
import type {Command} from './peers.js';

export type Mode = 'stdio' | 'http' | 'sse' | 'ws';

export interface FixtureOptions {
	readonly mode: Mode;
	readonly version: Version;
	readonly env?: Readonly<Record<string, string>>;
	readonly port?: number;
	/** Makes the stateless fixture support clients of the handshake era, too. */
	readonly speaksBothEras?: boolean;
}

/** The command of the fixture server of a version. A network fixture prints its port on stderr. */
export function fixtureCommand({mode, version, env, port = 0, speaksBothEras}: FixtureOptions): Command {
	if (isModern(version)) {
		const era = speaksBothEras ? 'serve' : 'reject';
		const args = [fixtureFile('fixture-modern'), ...(mode === 'http' ? ['http', String(port), era] : [era])];
		return {command: process.execPath, args, env: {...env}};
	}

	const args = [fixtureFile('fixture-handshake'), mode, String(port)];
	return {command: process.execPath, args, env: {FIXTURE_VERSIONS: version, ...env}};
}

/** Starts a network fixture. It stops with the test. */
export function startFixture(t: Owner, options: FixtureOptions): Promise<Listening> {
	return startListening(t, fixtureCommand(options), /^listening (\d+)$/m);
}

/** The URL of a fixture on that transport. */
export function fixtureUrl(mode: Exclude<Mode, 'stdio'>, port: number): string {
	const paths = {http: '/mcp', sse: '/sse', ws: '/'};
	return `${mode === 'ws' ? 'ws' : 'http'}://127.0.0.1:${port}${paths[mode]}`;
}
