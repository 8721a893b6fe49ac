/** What walk/marks.as.ts notes of the members inside of a message: a bit for each, so that nobody looks for them again. */
export const marks = {
	/** A value called type that is "audio". */
	audio: 1,
	/** One that is "resource_link". */
	resourceLink: 2,
	/** One that is neither of these, nor "text", "image" or "resource". */
	otherType: 4,
	/** Members by their names, whatever they hold. */
	lastModified: 8,
	structuredContent: 16,
	task: 32,
	original: 64,
	/** A number that a parser may not give back as it is written: one with many digits, say, or an exponent. */
	inexactNumber: 128,
	/** A member that progress is told under. */
	progressToken: 256,
} as const;

/** A mark that no walk makes, and every message is taken to have. */
export const EVERY_MESSAGE = 2 ** 30;

/** All that could be there, for where nobody has looked. */
export const ALL_MARKS = 511;
