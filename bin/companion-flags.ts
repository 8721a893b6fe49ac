/** The flags of the commands for people: `threads`, `summary`, `config`, `install`, `doctor`, `mail`, `trust`. */
export const companionOptions = ['repo'] as const;
export const companionSwitches = ['json', 'prune', 'yes', 'user', 'follow', 'list', 'remove'] as const;

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
	/** For `trust`: list the trusted files, or remove one from the list. */
	readonly isListing: boolean;
	readonly isRemoving: boolean;
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
	isListing: isGiven('list'),
	isRemoving: isGiven('remove'),
});

/** What was said when nothing was said. */
export const noCompanionFlags: CompanionFlags = companionFlags(
	() => undefined,
	() => false,
);
