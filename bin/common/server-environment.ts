import type {ChildOptions} from '../../lib/transports/child.js';
import type {Values} from '../cli/option.js';
import type {environmentOptions} from '../cli/options.js';

/** The environment of a server that is named after `--`: the user's own, since the client has already chosen it. */
export const serverEnvironment = ({
	env,
	cleanEnv,
}: Values<typeof environmentOptions>): Pick<ChildOptions, 'env' | 'inherits' | 'passWith'> => ({
	env,
	inherits: cleanEnv ? 'allowed' : 'all',
	passWith: 'Pass one with --env NAME, or all by leaving out --clean-env.',
});
