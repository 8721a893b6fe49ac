import {perMessage, type Stage} from '../../core/stage.js';
import {wellFormedJson} from '../../util/well-formed.js';

/**
 * Replaces lone surrogates in messages to Codex. Codex drops such a message without a response, so a turn
 * would never start or an approval would stay pending.
 */
export const repairText = (): Stage =>
	perMessage({
		toUpstream(envelope) {
			const {line} = envelope;
			if (!line.includes('\\ud') && !line.includes('\\uD')) return envelope;
			const json = line.toString();
			const repaired = wellFormedJson(json);
			return repaired === json ? envelope : envelope.withText(repaired.trimEnd());
		},
	});

/** Limit on the nesting of content for Codex. Codex drops messages that exceed 127 levels in total. */
export const MAX_CODEX_NESTING = 100;
