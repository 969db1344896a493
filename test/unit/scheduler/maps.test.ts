import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../../..');

/** Folders of more than a dozen files, and the file whose head comment maps each. */
const MAPS = {
  'src/pipeline': 'decide-turn.ts',
  'src/scheduler/events': 'connection-runner.ts',
  'src/scheduler/tenant': 'tenant-runner.ts',
  'src/scheduler/turn': 'pipeline-turn.ts',
};

describe('the map of a folder names every file in it', () => {
  test.for(Object.entries(MAPS))('%s', ([folder, mapFile]) => {
    const head = readFileSync(path.join(ROOT, folder, mapFile), 'utf8').split('*/')[0] ?? '';
    const named = new Set(head.match(/[a-z]+(?:-[a-z]+)*/g));
    const files = readdirSync(path.join(ROOT, folder)).filter(
      name => name.endsWith('.ts') && name !== mapFile,
    );
    expect(files.map(name => name.slice(0, -3)).filter(name => !named.has(name))).toEqual([]);
  });
});
