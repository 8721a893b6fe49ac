import test from 'ava';
import fc from 'fast-check';
import {isCredentialFile} from '../../lib/files/credential-file.js';

for (const path of [
	'/home/me/.codex/auth.json',
	'/home/me/.claude/.credentials.json',
	'/home/me/.claude.json',
	'/home/me/.ssh/id_ed25519',
	'/home/me/.ssh/config',
	'/r/.env',
	'/r/.env.production',
	'/r/.ENV',
	'/r/.envrc',
	'/r/server.pem',
	'/r/tls.key',
	'/home/me/.aws/credentials',
	'/home/me/.aws/config',
	'/home/me/.netrc',
	'/r/.npmrc',
	'/home/me/.kube/config',
	'/r/kubeconfig',
	'/home/me/.config/gh/hosts.yml',
	'/home/me/.pypirc',
	'/home/me/.docker/config.json',
	'/home/me/.config/gcloud/credentials.db',
	'/home/me/.git-credentials',
	'/r/.git/config',
	'/home/me/.gnupg/secring.gpg',
	'/proc/self/environ',
	'/run/secrets/token',
	'/etc/shadow',
	'/r/secrets.yaml',
	'/r/client_secret_1.json',
	'/r/terraform.tfstate',
	'/home/me/.config/git/credentials',
])
	test(`${path} is a credential file [SEC-D17]`, t => {
		t.true(isCredentialFile(path));
	});

for (const path of [
	'/r/.claude/agents/rust-dev.md',
	'/r/docs/secrets.md',
	'/r/.env.example',
	'/r/gcloud/agent.md',
	'/r/AGENTS.md',
	'/home/me/.codex/prompts/review.md',
	'/r/keys/readme.txt',
	'/r/.github/agents/a.md',
	'/r/environment.md',
])
	test(`${path} is not a credential file [SEC-D17]`, t => {
		t.false(isCredentialFile(path));
	});

test('recognizes a credential file in every folder, in upper and lower case [SEC-D17]', t => {
	const part = fc.stringMatching(/^[a-zA-Z0-9 _-]{1,12}$/);
	const name = fc.constantFrom('.env', 'auth.json', 'x.pem', '.ssh/x', 'id_rsa', '.git/config');
	fc.assert(
		fc.property(fc.array(part), name, fc.boolean(), (folders, last, isUpper) => {
			const path = `/${[...folders, isUpper ? last.toUpperCase() : last].join('/')}`;
			t.true(isCredentialFile(path), path);
		}),
	);
});
