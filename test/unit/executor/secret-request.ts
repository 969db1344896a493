/** Build requests with a secret, and the key that opens it. */
import { createOaepOpener, encryptOaep, type OaepOpener } from '../../../src/lib/pkcs1-oaep.ts';
import type { BuildRequest } from '../../../src/model/build-request.ts';
import { readZuulKeys } from '../../../src/store/keystore/zuul-keys.ts';
import { KEYSTORE_PASSWORD, PUBLIC_KEY, ZUUL_KEYS } from '../../fake/project-keys.ts';
import { PROJECT } from './fixture.ts';

const read = readZuulKeys(ZUUL_KEYS, KEYSTORE_PASSWORD);
const key = read.kind === 'keys' ? read.projects[0]?.keys.secrets?.key : undefined;
if (key === undefined) throw new Error('the fixture has no key');
const opener = createOaepOpener(key);
export const secretKeys = { opener: async (): Promise<OaepOpener | undefined> => opener };

/** The value. */
export const TOKEN = '{{ hunter2 }}';

/** The run playbooks at these places get the secret `deploy`. */
export function withSecret(request: BuildRequest, ...places: readonly number[]): BuildRequest {
  const secrets = [{ name: 'deploy', secret: 'h' }];
  const run = request.playbooks.run.map((each, index) =>
    places.includes(index) ? { ...each, secrets } : each,
  );
  const h = {
    name: 'deploy',
    project: PROJECT,
    plain: { user: 'robot', token: null },
    encrypted: [{ at: ['token'], chunks: encryptOaep(TOKEN, PUBLIC_KEY) }],
  };
  return { ...request, playbooks: { ...request.playbooks, run }, secrets: { h } };
}
