import type {ChildOptions} from '../../lib/transports/process/child.js';
import type {OptionValues} from './cli/option.js';
import type {environmentOptions} from './cli/options.js';

/**
 * The environment of a server that is started with `--`. It is inherited, since the client has already chosen
 * it.
 */
export const serverEnvironment = ({
	env,
	cleanEnv,
}: OptionValues<typeof environmentOptions>): Pick<ChildOptions, 'env' | 'inherits' | 'passHint'> => ({
	env,
	inherits: cleanEnv ? 'allowed' : 'all',
	passHint: 'Pass one with --env NAME, or all by removing --clean-env.',
});
