import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readTenants } from '../../../../src/cmd/service/read-tenants.ts';

const CONNECTIONS = new Map([['local', 'local']]);
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-tenants-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(name: string, text: string, mode = 0o700): string {
  const file = path.join(directory, name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

describe('a script prints the tenant file', () => {
  const print = (text: string) => write('tenants.sh', `#!/bin/sh\ncat <<'END'\n${text}END\n`);

  test('and gets no arguments', async () => {
    const file = write('tenants.sh', '#!/bin/sh\necho "- tenant: {name: a$#, source: {}, web-root: x}"\n');
    expect(await readTenants(file, true, CONNECTIONS)).toMatchObject({
      kind: 'tenants',
      tenants: [{ name: 'a0' }],
      warnings: [`output of ${file}:1:34: "web-root" has no effect: links lead to [web] root`],
    });
  });

  test('whose mistakes are those of its output', async () => {
    const file = print('- tenant: {nam: a}\n');
    expect(await readTenants(file, true, CONNECTIONS)).toEqual({
      kind: 'invalid',
      errors: [
        `output of ${file}:1:11: tenant lacks "name"`,
        `output of ${file}:1:12: unknown key "nam" of tenant, did you mean "name"?`,
      ],
    });
  });

  test.each<[string, string, number, RegExp]>([
    [
      'that fails',
      '#!/bin/sh\necho "- tenant: {}"\necho no database >&2\nexit 3\n',
      0o700,
      /ended with status 3: no database; see \[scheduler\] tenant_config_script$/,
    ],
    ['that fails silently', '#!/bin/sh\nexit 4\n', 0o700, /ended with status 4; see/],
    [
      'that is not executable',
      '#!/bin/sh\n',
      0o600,
      /cannot be run \(.*EACCES.*\); it must be executable; see/,
    ],
    ['that prints without end', '#!/bin/sh\nyes\n', 0o700, /printed more than 16777216 bytes; see/],
    [
      'that leaves a program of another session behind, which prints without end,',
      '#!/bin/sh\nsetsid yes &\n',
      0o700,
      /printed more than 16777216 bytes; see/,
    ],
    ['that ends by a signal', '#!/bin/sh\nkill -9 $$\n', 0o700, /was ended by SIGKILL; see/],
  ])('and one %s refuses the start', async (_, text, mode, expected) => {
    const read = await readTenants(write('tenants.sh', text, mode), true, CONNECTIONS);
    expect(read).toEqual({ kind: 'invalid', errors: [expect.stringMatching(expected)] });
  });
});

test('a tenant file that is not there refuses the start', async () => {
  const file = path.join(directory, 'none.yaml');
  expect(await readTenants(file, false, CONNECTIONS)).toEqual({
    kind: 'invalid',
    errors: [
      expect.stringMatching(/none\.yaml: cannot be read \(ENOENT.*\); see \[scheduler\] tenant_config$/),
    ],
  });
});
