import {basename, sep} from 'node:path';

/** Names of folders with credentials, at any depth. */
const credentialFolders: ReadonlySet<string> = new Set([
	'.ssh',
	'.gnupg',
	'.aws',
	'.azure',
	'.kube',
	'.password-store',
	'keyrings',
	'.terraform.d',
	'.git',
]);

/** Paths with credentials that are recognized by several components. */
const credentialPathPatterns = [
	/\/\.config\/(gh|glab-cli|hub|op|git|gcloud)\//,
	/\/\.docker\/config\.json$/,
	/^(\/etc\/(shadow|gshadow|sudoers|ssl\/private)|\/proc\/|(\/var)?\/run\/secrets\/)/,
];

/** Names of credential files, in lower case. */
const credentialFileNames: ReadonlySet<string> = new Set([
	'auth.json',
	'.credentials.json',
	'credentials.json',
	'credentials',
	'credentials.toml',
	'.claude.json',
	'.netrc',
	'_netrc',
	'.npmrc',
	'.yarnrc',
	'.yarnrc.yml',
	'.pypirc',
	'.pgpass',
	'.my.cnf',
	'.git-credentials',
	'.htpasswd',
	'.dockercfg',
	'.dockerconfigjson',
	'kubeconfig',
	'.s3cfg',
	'.boto',
	'.vault-token',
	'.envrc',
	'application_default_credentials.json',
	'token.json',
	'tokens.json',
	'.pat',
	'.token',
	'id_rsa',
	'id_dsa',
	'id_ecdsa',
	'id_ed25519',
	'id_ecdsa_sk',
	'id_ed25519_sk',
	'.env',
	'master.key',
]);

const credentialExtensions = /\.(pem|key|p12|pfx|pkcs12|jks|keystore|kdbx|ppk|asc|gpg|tfstate)$/;
/** `.env.production` and similar, except the templates that are usually committed. */
const environmentFilePattern = /^\.env\.(?!(example|sample|template|dist)$)/;
const secretFilePattern = /^(\.?secrets?|client_secret.*|service[-_]account.*)\.(json|ya?ml|toml|env|txt)$/;

/** Whether programs usually store credentials in a file. The path must have all links resolved. */
export function isCredentialFile(path: string): boolean {
	const plain = path.split(sep).join('/').toLowerCase();
	const name = basename(plain);
	return (
		credentialFileNames.has(name) ||
		[credentialExtensions, environmentFilePattern, secretFilePattern].some(pattern => pattern.test(name)) ||
		plain
			.split('/')
			.slice(0, -1)
			.some(part => credentialFolders.has(part)) ||
		credentialPathPatterns.some(pattern => pattern.test(plain))
	);
}
