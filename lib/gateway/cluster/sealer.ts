import {createCipheriv, createDecipheriv, hkdfSync, randomBytes} from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Tells how a text is sealed, should that ever be done in another way. */
const FORMAT_PREFIX = 'b1.';
const SEPARATOR = ',';
/** How many secrets there may be: one that seals, and those before it that may still be about. */
export const MAX_SECRETS = 4;
/** So many random bytes are asked for at a time: to ask the system takes as long as to seal. */
const RANDOM_POOL_BYTES = 341 * NONCE_BYTES;
/** What is longer is nothing of bridge's, and would not fit into a header beside others. */
export const MAX_SEALED_LENGTH = 4096;

/**
 * Closes texts so that only who knows the secret can read or make them. A text is bound to something that is not in it:
 * it does not open for anything else.
 */
export class Sealer {
	readonly #keys: readonly Buffer[];
	readonly #maxLength: number;

	/** The first secret closes; all of them open, so that one can take the place of another while both are in use. */
	constructor(secrets: readonly string[], purpose: string, maxLength = MAX_SEALED_LENGTH) {
		this.#maxLength = maxLength;
		this.#keys = secrets.map(secret =>
			Buffer.from(hkdfSync('sha256', secret, '', `bridge ${purpose}`, KEY_BYTES)),
		);
	}

	seal(text: string, boundTo: string): string {
		const [key] = this.#keys;
		if (!key) throw new Error('There is no secret to seal with.');
		const nonce = newNonce();
		const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(boundTo));
		const body = Buffer.concat([cipher.update(text), cipher.final()]);
		return `${FORMAT_PREFIX}${Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url')}`;
	}

	/** What was closed; undefined for all that was not closed with one of the secrets, and for just this. */
	unseal(sealed: string, boundTo: string): string | undefined {
		const bytes = sealed.length > this.#maxLength ? undefined : parseSealed(sealed);
		if (!bytes) return;
		for (const key of this.#keys) {
			const text = decrypt(bytes, key, boundTo);
			if (text !== undefined) return text;
		}
		return;
	}
}

/** Closes texts for all who have at least one of the secrets, whichever that is. */
export class MultiSecretSealer {
	readonly #sealers: readonly Sealer[];

	constructor(secrets: readonly string[], purpose: string, maxLength?: number) {
		this.#sealers = secrets.map(secret => new Sealer([secret], purpose, maxLength));
	}

	seal(text: string, boundTo: string): string {
		return this.#sealers.map(sealer => sealer.seal(text, boundTo)).join(SEPARATOR);
	}

	unseal(sealed: string, boundTo: string): string | undefined {
		for (const part of sealed.split(SEPARATOR, MAX_SECRETS))
			for (const sealer of this.#sealers) {
				const text = sealer.unseal(part, boundTo);
				if (text !== undefined) return text;
			}
		return;
	}
}

let randomPool = Buffer.alloc(0);

/** Random bytes that nothing else was sealed with. */
function newNonce(): Buffer {
	if (randomPool.length < NONCE_BYTES) randomPool = randomBytes(RANDOM_POOL_BYTES);
	const nonce = randomPool.subarray(0, NONCE_BYTES);
	randomPool = randomPool.subarray(NONCE_BYTES);
	return nonce;
}

function parseSealed(sealed: string): Buffer | undefined {
	if (!sealed.startsWith(FORMAT_PREFIX)) return;
	const text = sealed.slice(FORMAT_PREFIX.length);
	const bytes = Buffer.from(text, 'base64url');
	// Several texts may stand for the same bytes, of which bridge makes but one.
	const isCanonical = bytes.length >= NONCE_BYTES + TAG_BYTES && bytes.toString('base64url') === text;
	return isCanonical ? bytes : undefined;
}

function decrypt(bytes: Buffer, key: Buffer, boundTo: string): string | undefined {
	const cipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {authTagLength: TAG_BYTES});
	cipher.setAAD(Buffer.from(boundTo)).setAuthTag(bytes.subarray(-TAG_BYTES));
	const body = cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
	try {
		return Buffer.concat([body, cipher.final()]).toString();
	} catch {
		// It was made by somebody else, or for something else.
		return;
	}
}
