/** A code host that demands a password: the service has it, and reveals it nowhere. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'vitest';
import type { Log } from '../../src/lib/log.ts';
import { classicLayout } from './layouts.ts';
import { stateOf } from './site.ts';
import { story } from './story.ts';

const PASSWORD = 'canary-7f3a9c1e';
const SHAPES = [PASSWORD, Buffer.from(`git:${PASSWORD}`).toString('base64')];

const logged: string[] = [];

story(
  'a change lands at a host that demands a password, which stands in no record, log or span',
  { layout: classicLayout({ check: true }), overHttp: true, httpPassword: PASSWORD, secondLog: noteAll() },
  async world => {
    await world.propose('A');
    await world.runs('project-merge: A');
    await world.approve('A');
    world.free();
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed()).toEqual(['A']);
    expect(world.host?.requests.every(({ ailment }) => ailment === 'none')).toBe(true);
    expect(world.host?.requests.some(({ service }) => service === 'git-receive-pack')).toBe(true);

    const root = path.dirname(path.dirname(world.config));
    const seen = {
      'the state directory': await textBelow(stateOf(root)),
      spans: inspect(world.sink.spans, { depth: 9, maxArrayLength: null }),
      log: logged.join('\n'),
      items: JSON.stringify(await world.observer.finished()),
    };
    for (const [place, text] of Object.entries(seen))
      for (const shape of SHAPES) expect(text.includes(shape), `the password stands in ${place}`).toBe(false);
    expect(seen.spans).toContain('org/project');
  },
);

function noteAll(): Log {
  const note = (facts: object, text: string) => void logged.push(`${text} ${inspect(facts, { depth: 9 })}`);
  return { debug: note, info: note, warn: note, error: note, child: () => noteAll() };
}

async function textBelow(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  return (await Promise.all(files.map(file => readFile(file, 'latin1')))).join('\n');
}
