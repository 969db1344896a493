import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { aboutItem, changesText, leadChange } from '../../../src/model/about-item.ts';
import { changeText } from '../../../src/model/change.ts';
import { itemStory } from '../../fake/queue-item.ts';

const SRC = path.resolve(import.meta.dirname, '../../../src');

it('an item with several changes is called by all of them and filed under the first', () => {
  const { item: one } = itemStory();
  const [first] = one.changes;
  const second = { ...first, key: `${first.key}-too` as typeof first.key };
  const item = { ...one, changes: [first, second] as const };
  expect(leadChange(item)).toBe(first);
  expect(changesText(item)).toBe(`${changeText(first)} + ${changeText(second)}`);
  expect(aboutItem(item)).toEqual({ change: first, others: [second], item: item.uuid, event: null });
});

it('which change of an item stands for it is decided in one file', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'));
  const deciding = files.filter(file => {
    if (file.startsWith('cmd')) return false;
    return /\.changes\[0\]|\bchanges: \[\w+\][^;]*\}(:| =)/.test(readFileSync(path.join(SRC, file), 'utf8'));
  });
  expect(deciding).toEqual(['model/about-item.ts']);
});
