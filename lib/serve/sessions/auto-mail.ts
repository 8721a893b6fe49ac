import type {ServeConfig} from '../config/types.js';
import type {SessionEntry} from './types.js';

/** Whether mail starts turns of a session. Precedence: the session, its identity, the default. */
export const hasAutoMail = (
	{autoMail, perThreadAutoMail}: Pick<ServeConfig, 'autoMail' | 'perThreadAutoMail'>,
	{auto_mail: sessionSetting, identity}: Pick<SessionEntry, 'auto_mail' | 'identity'>,
): boolean => sessionSetting ?? perThreadAutoMail.get(identity) ?? autoMail;
