import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTlsFiles } from '../../../src/settings/tls-files.ts';

// Made for this test: two certificates of a hundred years, each with its key.
const PEM = {
  'a.pem': `-----BEGIN CERTIFICATE-----
MIIBcDCCARWgAwIBAgIUHnxVvj4U9qP20jayQAExENKL/T4wCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBYTAgFw0yNjExMjAyMDUxNDFaGA8yMTI2MTAyNzIwNTE0MVow
DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMBqaP7pr866
F1zvBGaKG05HUnU5vVDeefmxWKyvg5UgTiN/jmo168sooPWdBlbvvuA4YlHIyGd8
t1v7IlTdMXKjUzBRMB0GA1UdDgQWBBS0j8023o/1RuHRO+Rjp29rcvW57jAfBgNV
HSMEGDAWgBS0j8023o/1RuHRO+Rjp29rcvW57jAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0kAMEYCIQCkekkHIk+KMrSfU31YxUhi1RiL/HU/MEbeFyxjrIUd
yQIhANyJhPs+Z08hQl8YW4t1zeallJtTR8ZBNAe3tcQlCYEs
-----END CERTIFICATE-----
`,
  'a-key.pem': `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgo6/q5sjbcCbMA7Co
1or9pGwi/WmdML7gQGJTB2+20lehRANCAATAamj+6a/Ouhdc7wRmihtOR1J1Ob1Q
3nn5sVisr4OVIE4jf45qNevLKKD1nQZW777gOGJRyMhnfLdb+yJU3TFy
-----END PRIVATE KEY-----
`,
  'b-key.pem': `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgq8vns59uq58OgUhw
bz3X6F9okVjr6wM7fxnSdWYYwU2hRANCAATmA81MrQJitTqBQ3gltLH+yCGJn19/
XAUwpQwE92rh8orOZ32nb+02xgo2D3WwKAbWvxUr6TuLc3F/UrTir1RN
-----END PRIVATE KEY-----
`,
  'text.pem': 'hello',
};

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'));
  for (const [name, text] of Object.entries(PEM)) writeFileSync(join(directory, name), text);
});
afterAll(() => rmSync(directory, { recursive: true }));

function tls(cert: string, key: string, ca = 'a.pem') {
  const file = (name: string, line: number) => ({
    path: join(directory, name),
    at: { file: 'g.conf', line },
  });
  return { cert: file(cert, 1), key: file(key, 2), ca: file(ca, 3) };
}

describe('the files of [zookeeper]', () => {
  it('are read as they are', () => {
    const files = readTlsFiles(tls('a.pem', 'a-key.pem'));
    expect(files.kind === 'files' && files.cert.toString()).toContain('BEGIN CERTIFICATE');
  });

  it('a key of another certificate is refused with its place', () => {
    expect(readTlsFiles(tls('a.pem', 'b-key.pem'))).toEqual({
      kind: 'invalid',
      errors: [
        `g.conf:2: [zookeeper] tls_key: ${join(directory, 'b-key.pem')} is not the key of tls_cert ${join(directory, 'a.pem')}`,
      ],
    });
  });

  it('reports all files that are missing or of another kind together', () => {
    const files = readTlsFiles(tls('text.pem', 'nowhere.pem', 'a-key.pem'));
    expect(files.kind === 'invalid' && files.errors).toEqual([
      expect.stringMatching(/^g\.conf:3: \[zookeeper\] tls_ca: .*a-key\.pem is no certificate in PEM form/),
      expect.stringMatching(/^g\.conf:1: \[zookeeper\] tls_cert: .*text\.pem is no certificate in PEM form/),
      expect.stringMatching(
        /^g\.conf:2: \[zookeeper\] tls_key: .*nowhere\.pem cannot be read \(there is no such file\)/,
      ),
    ]);
  });
});
