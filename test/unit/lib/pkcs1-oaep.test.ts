import { describe, expect, test } from 'vitest';
import { createOaepOpener, encryptOaep } from '../../../src/lib/pkcs1-oaep.ts';
import { lockedPem, plainPem, rsaKeyOf, sshPublicKey } from '../../../src/lib/rsa-keys.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { projectKey } from '../../../src/model/project.ts';
import { readZuulKeys, zuulKeysText } from '../../../src/store/keystore/zuul-keys.ts';
import {
  FROM_OPENSSL,
  FROM_PYTHON,
  KEYSTORE_PASSWORD,
  PUBLIC_KEY,
  SSH_PUBLIC_KEY,
  ZUUL_KEYS,
} from '../../fake/project-keys.ts';

const read = readZuulKeys(ZUUL_KEYS, KEYSTORE_PASSWORD);
const [project] = read.kind === 'keys' ? read.projects : [];
const key = project?.keys.secrets?.key;
if (project === undefined || key === undefined) throw new Error('the fixture has no key');
const open = createOaepOpener(key);

describe("the encryption of Zuul's secrets", () => {
  test('opens what Python and OpenSSL encrypted', async () => {
    expect((await open(FROM_PYTHON))?.toString()).toBe('grüße von Python');
    expect((await open([FROM_OPENSSL]))?.toString()).toBe('from the client');
  });

  test('cuts a long text between characters, so that each chunk is text', async () => {
    const text = 'a€😀'.repeat(100);
    const chunks = encryptOaep(text, PUBLIC_KEY);
    expect(chunks.length).toBe(4);
    for (const chunk of chunks) expect((await open([chunk]))?.toString()).not.toContain('\ufffd');
    expect((await open(chunks))?.toString()).toBe(text);
  });

  test('does not open what is damaged, empty or of another key', async () => {
    for (const chunk of ['', 'AAAA', Buffer.alloc(256, 7).toString('base64'), FROM_OPENSSL.slice(4)])
      expect(await open([chunk])).toBeUndefined();
    expect(() => encryptOaep('x', 'no key')).toThrow();
  });
});

describe("Zuul's file of keys", () => {
  test('names projects and both uses, and is written again as it was read', () => {
    expect(project.project).toBe(projectKey({ connection: 'local', name: 'org/project' }));
    expect(rsaKeyOf(plainPem(key))?.publicKey).toBe(PUBLIC_KEY);
    const ssh = project.keys.ssh;
    expect(ssh === undefined ? undefined : sshPublicKey(ssh.key)).toBe(SSH_PUBLIC_KEY);
    const text = zuulKeysText([project], KEYSTORE_PASSWORD);
    const again = readZuulKeys(text, KEYSTORE_PASSWORD);
    expect(again.kind === 'keys' && again.projects[0]?.keys.secrets?.key.equals(key)).toBe(true);
    expect(Object.keys(JSON.parse(text).keys)).toEqual(Object.keys(JSON.parse(ZUUL_KEYS).keys));
    expect(text).toContain('DEK-Info: AES-256-CBC');
    expect(text).toContain('"created":1700000000');
  });

  test('quotes names as Python does', () => {
    const odd = { ...project, project: projectKey({ connection: 'local', name: "a b/c(d)'~é" }) };
    const text = zuulKeysText([odd], KEYSTORE_PASSWORD);
    expect(Object.keys(JSON.parse(text).keys)[0]).toBe(
      '/keystorage/local/a b/a+b%2Fc%28d%29%27~%C3%A9/secrets',
    );
    const again = readZuulKeys(text, KEYSTORE_PASSWORD);
    expect(again.kind === 'keys' && again.projects[0]?.project).toBe(odd.project);
  });

  test.each([
    ['not JSON', 'no', KEYSTORE_PASSWORD],
    ['another password', ZUUL_KEYS, new Secret('another')],
    ['another path', ZUUL_KEYS.replace('/keystorage/', '/elsewhere/'), KEYSTORE_PASSWORD],
    ['another schema', ZUUL_KEYS.replace('"schema":1', '"schema":2'), KEYSTORE_PASSWORD],
  ])('is refused with its place: %s', (_, text, password) => {
    const refused = readZuulKeys(text, password);
    expect(refused.kind).toBe('invalid');
    expect(JSON.stringify(refused)).not.toContain('PRIVATE KEY');
  });

  test('protects keys with the password', () => {
    const pem = lockedPem(key, KEYSTORE_PASSWORD);
    expect(pem).toMatch(/^-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n/);
    expect(rsaKeyOf(pem, new Secret('another'))).toBeUndefined();
  });
});
