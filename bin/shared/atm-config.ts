import process from 'node:process';
import {loadServeConfig} from '../../lib/serve/config/load-serve-config.js';
import type {LoadedServeConfig, ServeFlags} from '../../lib/serve/config/types.js';
import type {OptionValues} from './cli/option.js';
import type {serveOptions, timeoutFlag} from './cli/options.js';

/** Session flags. Each command has a subset of them. */
type SessionFlags = Partial<OptionValues<typeof serveOptions & {readonly timeout: typeof timeoutFlag}>>;

/** Converts flags to the input of the session configuration. */
export const toAtmFlags = ({fast, trust, timeout, ...flags}: SessionFlags): ServeFlags => ({
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

/** Loads the session configuration from flags, environment variables and files. */
export const loadAtmConfigWithFlags = (flags: SessionFlags): Promise<LoadedServeConfig> =>
	loadServeConfig({flags: toAtmFlags(flags), env: process.env, cwd: process.cwd()});
