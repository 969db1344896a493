/**
 * A burst: many approved proposals arrive in one push per project, and a webhook each. Real repositories with hooks, the real
 * service, a job that does nothing; what the gate pushes comes back as webhooks, too.
 *
 *     GATEHOUSE_BENCH_BURST=1000 npm run bench -- burst
 *
 * Oracle: all proposals land, each once, and never are there two minutes without a landing. The next poll is an hour away:
 * what no look takes because of the webhook would not land at all.
 */
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLog } from '../../src/cmd/log.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { runGit } from '../fake/git-repository.ts';
import { createDeveloper, type Developer } from '../scenario/developer.ts';
import { layoutWith } from '../scenario/layouts.ts';
import { makeFifos, openLineFifo } from '../scenario/line-fifo.ts';
import { CONFIG_PROJECT, CONNECTION, startSite, TOKEN } from '../scenario/site.ts';
import type { Row } from './main.ts';

const PROJECTS = ['org/a', 'org/b', 'org/c', 'org/d'];
const PROPOSALS = Number(process.env.GATEHOUSE_BENCH_BURST ?? 200);
/** Seconds. */
const POLL = Number(process.env.GATEHOUSE_BENCH_POLL ?? 3_600);
/** Milliseconds without a landing after which the burst is given up. */
const STALLED = 120_000;

export async function benchBurst(): Promise<readonly Row[]> {
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-burst-'));
  const hookCalls = path.join(root, 'hook-calls');
  let hear: (project: string) => void = () => {};
  await makeFifos([hookCalls]);
  const hooks = openLineFifo(hookCalls, project => hear(project));
  const developers = await developersIn(root, hookCalls);
  const service = await startSite(
    {
      root,
      projects: PROJECTS,
      moreTenants: [],
      collector: 'http://127.0.0.1:9',
      tracingOff: true,
      executor: [],
      tracing: [],
      sections: [],
      store: { kind: 'embedded' },
      clock: systemClock(),
      pollInterval: POLL,
    },
    createLog({ level: 'error', format: 'pretty', stream: process.stderr }),
  );
  try {
    let webhooks = 0;
    hear = project => {
      webhooks += 1;
      void sendWebhook(service.url, project, webhooks);
    };
    async function burst(each: number, name: string): Promise<Watched> {
      const heads = new Map<Developer, readonly string[]>();
      for (const developer of developers) heads.set(developer, await makeProposals(developer, each, name));
      const already = await landings(developers);
      const begun = performance.now();
      for (const [developer, commits] of heads) {
        await pushAll(developer, commits, name);
        hear(developer.project);
      }
      return watch(developers, already, each * PROJECTS.length, begun);
    }
    // What is pushed before the first look at a project is found by it, without a webhook.
    await burst(1, 'warm');
    const warmUp = webhooks;
    const before = process.cpuUsage();
    const watched = await burst(Math.ceil(PROPOSALS / PROJECTS.length), 'topic');
    const { user, system } = process.cpuUsage(before);
    const minutes = watched.ended / 60_000;
    return [
      { name: `approved proposals, in ${PROJECTS.length} pushes`, value: watched.landed, unit: 'landed' },
      { name: 'first landing after', value: watched.first / 1000, unit: 's' },
      { name: 'all landed after', value: watched.ended / 1000, unit: 's' },
      { name: 'longest time without a landing', value: watched.idle / 1000, unit: 's' },
      { name: 'rate', value: watched.landed / minutes, unit: 'proposals/min' },
      {
        name: 'processor time of the service, without git',
        value: (user + system) / 1000 / watched.landed,
        unit: 'ms/proposal',
      },
      { name: 'of it in the kernel', value: system / 1000 / watched.landed, unit: 'ms/proposal' },
      { name: 'webhooks sent meanwhile', value: webhooks - warmUp, unit: 'webhooks' },
    ];
  } finally {
    hear = () => {};
    await service.close();
    hooks[Symbol.dispose]();
    await rm(root, { recursive: true, force: true });
  }
}

async function developersIn(root: string, hookCalls: string): Promise<readonly Developer[]> {
  const projects = PROJECTS.map(
    name => `
- project:
    name: ${name}
    check: {jobs: [nothing]}
    gate: {jobs: [nothing]}
`,
  );
  const layout = layoutWith(`\n- job: {name: nothing, run: playbooks/nothing.sh}\n${projects.join('')}`, {
    check: true,
  });
  const config = {
    'zuul.yaml': layout,
    'playbooks/job.sh': '#!/bin/sh\n',
    'playbooks/nothing.sh': '#!/bin/sh\n',
  };
  await createDeveloper(root, CONFIG_PROJECT, config, hookCalls);
  const made: Developer[] = [];
  for (const name of PROJECTS)
    made.push(await createDeveloper(root, name, { 'README.md': `${name}\n` }, hookCalls));
  return made;
}

/** Commits side by side on the tip of master, made by one process. */
async function makeProposals(developer: Developer, count: number, name: string): Promise<readonly string[]> {
  const own = ownRepository(developer);
  const tip = await developer.tip('refs/heads/master');
  const stream = Array.from({ length: count }, (_, index) => {
    const who = `Ada Example <ada@example.org> ${1_767_300_000 + index} +0000`;
    const message = `Change ${name} ${index}`;
    return [
      `commit refs/heads/${name}/${index}\nauthor ${who}\ncommitter ${who}`,
      `data ${message.length}\n${message}\nfrom ${tip}\nM 100644 inline ${name}${index}.txt\ndata 2\n1\n\n`,
    ].join('\n');
  });
  await runGit(own, ['fast-import', '--quiet', '--date-format=raw'], stream.join(''));
  const refs = (
    await runGit(own, ['for-each-ref', '--format=%(objectname)', `refs/heads/${name}/`])
  ).toString();
  return refs.trim().split('\n');
}

async function pushAll(developer: Developer, commits: readonly string[], name: string): Promise<void> {
  const refspecs = commits.flatMap((commit, index) => [
    `${commit}:refs/heads/for/master/${name}${index}`,
    `${commit}:refs/heads/gate/master/${name}${index}`,
  ]);
  await runGit(ownRepository(developer), ['push', '--quiet', developer.bare, ...refspecs], '', {
    STORY_PUSH: 'yes',
  });
}

function ownRepository({ bare }: Developer): string {
  return bare.replace('/repositories/', '/developers/');
}

async function sendWebhook(url: string, project: string, number: number): Promise<void> {
  const body = JSON.stringify({ project });
  for (;;) {
    const response = await fetch(`${url}/api/connection/${CONNECTION}/payload`, {
      method: 'POST',
      body,
      headers: {
        'Content-Type': 'application/json',
        'X-Gatehouse-Delivery': `burst-${number}`,
        'X-Gatehouse-Signature': `sha256=${createHmac('sha256', TOKEN).update(body).digest('hex')}`,
      },
    });
    if (response.ok) return;
    await pause(1000 * Number(response.headers.get('retry-after') ?? 1));
  }
}

interface Watched {
  readonly landed: number;
  readonly first: number;
  readonly ended: number;
  readonly idle: number;
}

/** Times are milliseconds since `begun`. */
async function watch(
  developers: readonly Developer[],
  already: number,
  expected: number,
  begun: number,
): Promise<Watched> {
  const trace = process.env.GATEHOUSE_BENCH_TRACE !== undefined;
  let landed = 0;
  let first = Number.NaN;
  let last = 0;
  let idle = 0;
  for (;;) {
    const now = performance.now() - begun;
    const sum = (await landings(developers)) - already;
    if (sum > landed) {
      idle = Math.max(idle, now - last);
      if (landed === 0) first = now;
      last = now;
      landed = sum;
      if (trace) process.stderr.write(`${(now / 1000).toFixed(1)} s: ${landed} landed\n`);
    }
    if (landed > expected) throw new Error(`${landed} landings of ${expected} proposals`);
    if (landed === expected) return { landed, first, ended: now, idle };
    if (now - last > STALLED)
      throw new Error(
        `only ${landed} of ${expected} landed; none in the last ${STALLED / 1000} s of ${(now / 1000).toFixed(0)} s`,
      );
    await pause(250);
  }
}

async function landings(developers: readonly Developer[]): Promise<number> {
  const counts = developers.map(({ git }) => git('rev-list', '--count', '--merges', 'refs/heads/master'));
  return (await Promise.all(counts)).reduce((sum, count) => sum + Number(count), 0);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}
