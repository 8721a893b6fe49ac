export const asciiJson = (text: string): string =>
	JSON.stringify(text).replace(
		/[\u0080-\uffff]/g,
		char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);
