/** A job that prints without a pause, and readers who follow it: the service stays awake, and nothing is lost. */
import { createHash } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

/** 100 bytes each. 1 000 000 of them are a hundred megabytes. */
const LINES = Number(process.env.FLOOD_LINES ?? 100_000);
const layout = layoutWith(
  `
- job: {name: flood, run: playbooks/flood.sh}
- project:
    name: org/project
    gate: {jobs: [flood]}
`,
  { notes: false },
);
const configFiles = {
  'playbooks/flood.sh': `#!/bin/sh
awk 'BEGIN { for (line = 1; line <= ${LINES}; line++) printf "%08d ${'x'.repeat(90)}\\n", line }'
`,
};

interface Followed {
  readonly code: number;
  readonly bytes: number;
  readonly lines: number;
  readonly sha256: string;
}

/** @param pauses whether it stops reading now and then. */
function follow(world: World, uuid: string, pauses: boolean): Promise<Followed> {
  const socket = new WebSocket(
    `${world.service.url.replace('http', 'ws')}/api/tenant/${TENANT}/console-stream`,
  );
  const hash = createHash('sha256');
  const seen = { bytes: 0, lines: 0, messages: 0 };
  socket.on('open', () => socket.send(JSON.stringify({ uuid, logfile: 'console.log' })));
  socket.on('message', data => {
    const text = String(data);
    hash.update(text);
    seen.bytes += Buffer.byteLength(text);
    seen.lines += text.split('\n').length - 1;
    seen.messages += 1;
    if (!pauses || seen.messages % 20 !== 0) return;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', code => resolve({ code, ...seen, sha256: hash.digest('hex') }));
  });
}

async function wholeLog(world: World, uuid: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let offset = 0; ; ) {
    const response = await fetch(
      `${world.service.url}/api/tenant/${TENANT}/build/${uuid}/log?offset=${offset}&limit=4194304`,
    );
    expect(response.status).toBe(200);
    const bytes = Buffer.from(await response.arrayBuffer());
    pieces.push(bytes);
    offset += bytes.length;
    if (response.headers.get('x-complete') === 'true') return Buffer.concat(pieces);
  }
}

story(
  'a flood of output is streamed whole to many readers while API and page answer',
  { layout, configFiles },
  async world => {
    await world.propose('A');
    await world.approve('A');
    const uuid = await world.observer.until('the build has begun', () => {
      const job = world.item('A')?.jobs.find(({ name }) => name === 'flood');
      return job?.startedAt == null ? undefined : (job.build ?? undefined);
    });
    using delay = Object.assign(monitorEventLoopDelay({ resolution: 10 }), {
      [Symbol.dispose]() {
        delay.disable();
      },
    });
    delay.enable();
    let isOver = false;
    let answers = 0;
    const asking = (async () => {
      while (!isOver) {
        for (const path of ['/', `/api/tenant/${TENANT}/status`])
          expect(
            (await fetch(`${world.service.url}${path}`, { signal: AbortSignal.timeout(10_000) })).status,
          ).toBe(200);
        answers += 1;
        await new Promise(resolve => setTimeout(resolve, 50));
      }
    })();
    const followed = await Promise.all([0, 1, 2, 3, 4].map(reader => follow(world, uuid, reader > 2)));
    isOver = true;
    await asking;
    await world.leaves('A', 'SUCCESS');

    const whole = await wholeLog(world, uuid);
    const sha256 = createHash('sha256').update(whole).digest('hex');
    const lines = whole.toString().split('\n').length - 1;
    expect(followed).toEqual(
      followed.map(() => expect.objectContaining({ code: 1000, bytes: whole.length, lines, sha256 })),
    );
    expect(whole.toString().match(/ \| \d{8} x{90}$/gm)).toHaveLength(LINES);
    expect(answers).toBeGreaterThan(0);
    // Half of the time the loop is free again after this, on a loaded machine, too.
    expect(delay.percentile(50) / 1e6).toBeLessThan(100);
    if (process.env.FLOOD_LINES !== undefined)
      process.stderr.write(
        `${whole.length} bytes, ${answers} rounds of answers, event loop delay p50 ${delay.percentile(50) / 1e6} ms, p99 ${delay.percentile(99) / 1e6} ms, longest ${delay.max / 1e6} ms\n`,
      );
  },
);
