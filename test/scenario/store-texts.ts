import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { openStoreSource } from '../../src/cmd/service/open-store-source.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { readTree } from '../../src/store/tree-copy.ts';
import { SILENT } from '../fake/silent-log.ts';
import { buildsAreDeleted } from './deleted-builds.ts';
import type { World } from './world.ts';

/** All that a world has stored when what ended builds had is deleted: files of its state, nodes of its store. */
export async function storeTexts(world: World): Promise<readonly (readonly [name: string, text: Buffer])[]> {
  const state = path.join(path.dirname(path.dirname(world.config)), 'state');
  await buildsAreDeleted(state);
  const files = readdirSync(state, { recursive: true, withFileTypes: true }).flatMap(entry => {
    const file = path.join(entry.parentPath, entry.name);
    return entry.isFile() ? [[file, readFileSync(file)] as const] : [];
  });
  expect(files.length).toBeGreaterThan(5);
  return [...files, ...(await nodesOf(world.config))];
}

async function nodesOf(config: string): Promise<readonly (readonly [name: string, text: Buffer])[]> {
  const read = readSettings(config, {});
  if (read.kind === 'invalid' || read.settings.store.kind === 'embedded') return [];
  const { store: settings } = read.settings;
  const opened = await openStoreSource(settings, { clock: systemClock(), log: SILENT });
  if (opened.kind === 'refused') throw new Error(opened.errors.join('\n'));
  await using source = opened.source;
  const store = await source.connect('canary');
  const found: (readonly [string, Buffer])[] = [];
  for await (const node of readTree(store, settings.root)) found.push([node.path, Buffer.from(node.data)]);
  await store.close();
  expect(found.length).toBeGreaterThan(5);
  return found;
}
