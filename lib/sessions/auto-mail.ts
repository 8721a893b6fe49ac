import type {AtmConfig} from '../atm/types.js';
import type {SessionEntry} from './types.js';

/** Whether mail starts turns of a session: its call has precedence over its identity, and that over all sessions. */
export const hasAutoMail = (
	{autoMail, perThreadAutoMail}: Pick<AtmConfig, 'autoMail' | 'perThreadAutoMail'>,
	{auto_mail: own, identity}: Pick<SessionEntry, 'auto_mail' | 'identity'>,
): boolean => own ?? perThreadAutoMail.get(identity) ?? autoMail;
