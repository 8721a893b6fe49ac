const retiredPolicy = /(?:unknown variant `|approval_policy = ")(untrusted|on-failure)["`]/;

/**
 * What Codex refuses, with what to do about it where that is known. Settings that were fine for years are not any more, and
 * all that Codex says of them is that they are unknown.
 */
export function explainCodexError(text: string): string {
	const [, policy] = retiredPolicy.exec(text) ?? [];
	if (policy !== undefined)
		return `${text}\nThe approval policy ${policy} is no longer known to this Codex. Use on-request, or never, in the call, in the configuration of bridge and in config.toml.`;
	if (text.includes('active writer'))
		return `${text}\nAnother program has this thread open. Close it there first, or start a new thread with codex.`;
	return text;
}
