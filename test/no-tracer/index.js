export function nodeFileTrace() {
	throw new Error('ava --watch needs @vercel/nft, which is left out here: see package.json next to this file.');
}
