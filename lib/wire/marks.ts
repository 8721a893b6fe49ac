/**
 * The flags that walk/marks.as.ts sets for members inside of a message, so that stages do not need to search
 * for them.
 */
export const marks = {
	/** A `type` member with the value "audio". */
	audio: 1,
	/** A `type` member with the value "resource_link". */
	resourceLink: 2,
	/** A `type` member with any other value than these, "text", "image" and "resource". */
	otherType: 4,
	/** Members with these names and any value. */
	lastModified: 8,
	structuredContent: 16,
	task: 32,
	original: 64,
	/**
	 * A number whose spelling may change when it is parsed and serialized: one with many digits or an
	 * exponent, for example.
	 */
	inexactNumber: 128,
	progressToken: 256,
} as const;

/** A mark that no scan sets and that counts as set for every message. */
export const EVERY_MESSAGE = 2 ** 30;

/** All marks, for messages that were not scanned. */
export const ALL_MARKS = 511;
