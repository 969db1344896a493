import { expect, test } from 'vitest';
import { createLanding } from '../../../../drivers/git/landing.ts';
import type { ProjectGit } from '../../../../drivers/git/remote-git.ts';
import { createReporter } from '../../../../drivers/git/reporter.ts';
import type { LandingRequest } from '../../../../src/driver/landing.ts';
import type { ReportRequest } from '../../../../src/driver/reporter.ts';
import { parseCommitId } from '../../../../src/model/project.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { sampleReport } from '../../../fake/report.ts';

const change = proposedChange('master/login');
const before = parseCommitId('b'.repeat(40));

/** A host whose refs are as the gate left them, and where every push is written down. */
function host(onRefs: () => void = () => {}) {
  const pushes: string[] = [];
  const git = {
    async refs() {
      onRefs();
      return new Map([
        ['refs/heads/master', before],
        [change.ref, change.commit],
      ]);
    },
    has: async () => true,
    async push() {
      pushes.push('push');
      return { kind: 'pushed' };
    },
    async note() {
      pushes.push('note');
      return { kind: 'noted' };
    },
  } as unknown as ProjectGit;
  const log = { debug: () => {}, info: () => {}, warn: () => {} };
  const format = ({ branch, topic }: { readonly branch: string; readonly topic: string }) =>
    `gate/${branch}/${topic}`;
  const templates = { proposals: { format }, approvals: { format } } as never;
  const acting = { openGit: async () => git, secrets: [] };
  return {
    pushes,
    reporter: createReporter({ log, ...acting }),
    landing: createLanding({ templates, ...acting }),
  };
}

const request: ReportRequest = {
  config: { merge: true, note: true },
  change,
  report: sampleReport({ changes: [change] }),
};

const landed: LandingRequest = {
  config: request.config,
  change,
  tested: {
    base: before,
    before,
    beforeTree: null,
    commit: parseCommitId('c'.repeat(40)),
    tree: 'd'.repeat(40),
  },
};

test('a process that may act lands and notes', async () => {
  const { pushes, reporter, landing } = host();
  const signal = AbortSignal.timeout(5000);
  expect(await landing.land(landed, signal, () => true)).toMatchObject({ kind: 'landed' });
  expect(await reporter.report(request, signal, () => true)).toEqual({ kind: 'done' });
  expect(pushes).toEqual(['push', 'note']);
});

test('a process that lost its right after it looked at the refs pushes nothing', async () => {
  let allowed = true;
  const { pushes, landing } = host(() => {
    allowed = false;
  });
  await expect(landing.land(landed, AbortSignal.timeout(5000), () => allowed)).rejects.toThrow('may not act');
  expect(pushes).toEqual([]);
});

test('a process that lost its right between landing and note writes nothing', async () => {
  const { pushes, reporter } = host();
  await expect(reporter.report(request, AbortSignal.timeout(5000), () => false)).rejects.toThrow(
    'may not act',
  );
  expect(pushes).toEqual([]);
});
