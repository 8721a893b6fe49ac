export {isVersion as isMcpVersion, type Version as McpVersion, versions} from '../../lib/protocol/version.js';

export type Sender = 'client' | 'server';
