import {createCipheriv, createDecipheriv, hkdfSync, randomBytes} from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Identifies the format, in case it ever changes. */
const FORMAT_PREFIX = 'b1.';
const SEPARATOR = ',';
/** The maximum number of secrets: one that seals, and earlier ones that may still be in use. */
export const MAX_SECRETS = 4;
/** Random bytes are requested in blocks, since each system call takes as long as a seal. */
const RANDOM_POOL_BYTES = 341 * NONCE_BYTES;
/** The maximum length of a sealed text, which is sent in an HTTP header. Longer texts are rejected. */
export const MAX_SEALED_LENGTH = 4096;

/**
 * Seals texts so that they can be read and made only with the secret. A text is bound to a context, and opens
 * only for that context.
 */
export class Sealer {
	readonly #keys: readonly Buffer[];
	readonly #maxLength: number;

	/** The first secret seals. All of them open, so that secrets can be replaced one after the other. */
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

	/** Returns the text; undefined if it was not sealed with one of the secrets and for this context. */
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

/** Seals texts for every reader that has at least one of the secrets. */
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

/** Returns a random nonce. A nonce is never reused with the same key. */
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
	// Several texts decode to the same bytes. Only the one that bridge creates is valid.
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
		// The text was sealed with another secret, or for another context.
		return;
	}
}
