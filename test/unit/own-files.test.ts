/** A build has no other place for what a module asks of its own URL. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

test('one file of the service asks where it is, and all others ask that one', () => {
  const asking = ['src', 'drivers']
    .flatMap(part =>
      readdirSync(path.join(root, part), { recursive: true, encoding: 'utf8' }).map(name =>
        path.join(part, name),
      ),
    )
    .filter(name => name.endsWith('.ts') && !name.startsWith('src/web/page/'))
    .filter(name => readFileSync(path.join(root, name), 'utf8').includes('import.meta'));
  expect(asking).toEqual(['src/lib/own-file.ts']);
});
