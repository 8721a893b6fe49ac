// Writes the generated parts of docs: `npm run generate`.
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {errorCodesPage} from './error-codes.mjs';
import {requirementsPage} from './requirements.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
for (const page of [errorCodesPage, requirementsPage]) {
	const {file, text} = page(root);
	writeFileSync(join(root, file), text);
}
