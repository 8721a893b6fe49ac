/** What may be said to the commands that are for people: `threads`, `summary`, `config`, `install`, `doctor`, `mail`. */
export const companionOptions = ['repo'] as const;
export const companionSwitches = ['json', 'prune', 'yes', 'user', 'follow'] as const;

export type CompanionFlags = {
	readonly repo: string | undefined;
	/** For programs instead of people. */
	readonly isJson: boolean;
	/** Remove what is old. */
	readonly isPruning: boolean;
	/** Do it without asking. */
	readonly isYes: boolean;
	/** For the user rather than for the project. */
	readonly isForUser: boolean;
	/** Go on with what comes. */
	readonly isFollowing: boolean;
};

/** Understands it. */
export const companionFlags = (
	one: (name: string) => string | undefined,
	isGiven: (name: string) => boolean,
): CompanionFlags => ({
	repo: one('repo'),
	isJson: isGiven('json'),
	isPruning: isGiven('prune'),
	isYes: isGiven('yes'),
	isForUser: isGiven('user'),
	isFollowing: isGiven('follow'),
});

/** What was said when nothing was said. */
export const noCompanionFlags: CompanionFlags = companionFlags(
	() => undefined,
	() => false,
);
