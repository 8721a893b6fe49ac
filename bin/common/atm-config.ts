import process from 'node:process';
import {loadAtmConfig} from '../../lib/atm/config.js';
import type {AtmFlags, LoadedAtmConfig} from '../../lib/atm/types.js';
import type {Values} from '../cli/option.js';
import type {serveOptions, timeout} from '../cli/options.js';

/** Flags about sessions; a command has some of them. */
export type SessionFlags = Partial<Values<typeof serveOptions & {readonly timeout: typeof timeout}>>;

/** The flags as the configuration of sessions takes them. */
export const atmFlags = ({fast, trust, timeout, ...flags}: SessionFlags): AtmFlags => ({
	team: flags.team,
	identity: flags.identity,
	role: flags.role,
	model: flags.model,
	sandbox: flags.sandbox,
	approvalPolicy: flags.approvalPolicy,
	config: flags.config,
	isFast: fast || undefined,
	isTrusted: trust || undefined,
	timeoutSecs: timeout === undefined ? undefined : timeout / 1000,
});

/** The configuration of sessions as flags, variables and files have it here. */
export const atmConfig = (flags: SessionFlags): Promise<LoadedAtmConfig> =>
	loadAtmConfig({flags: atmFlags(flags), env: process.env, cwd: process.cwd()});
