/** A git connection without `proposals`: Zuul's plain source of branches and tags. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gitDriver } from '../../../drivers/git/index.ts';
import { languageOf } from '../../../src/driver/language-of.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import { createGate, type Gate } from './gate.ts';
import { type GitHost, openGitHost } from './git-host.ts';

describe('a connection that only reads', () => {
  let host: GitHost;
  let gate: Gate;
  beforeEach(async () => {
    host = await openGitHost({ proposals: undefined, poll_interval: undefined, poll_delay: '0' });
    gate = createGate(host);
    await gate.settle();
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const git = (...args: readonly string[]) => host.repository(host.projects[0]).git(...args);
  const config = () => languageOf(gitDriver, host.connection);

  /** Events since the last call, all of which a trigger on ref-updated takes. */
  async function updates(): Promise<readonly string[]> {
    const { events } = await gate.settle();
    const trigger = parsedBefore(config().parseTrigger({ event: 'ref-updated', 'ignore-deletes': false }));
    return events.map(event => {
      expect(config().matches(trigger, event, undefined, { tenant: 'acme', pipeline: 'post' }).met).toBe(
        true,
      );
      const { created, deleted } = Object(event.facts);
      return `${event.ref} ${created ? 'created' : deleted ? 'deleted' : 'moved'}`;
    });
  }

  test('has an event for each branch and tag that is created, moved or deleted', async () => {
    await host.push({ 'README.md': 'more\n' });
    await git('update-ref', 'refs/heads/stable', 'main');
    await git('update-ref', 'refs/tags/v1', 'main');
    expect(await updates()).toEqual([
      'refs/heads/main moved',
      'refs/heads/stable created',
      'refs/tags/v1 created',
    ]);
    await git('update-ref', '-d', 'refs/heads/stable');
    expect(await updates()).toEqual(['refs/heads/stable deleted']);
    expect(await updates()).toEqual([]);
  });

  test('takes branches that look like proposals and approvals for ordinary ones', async () => {
    await host.propose({ topic: 'login' });
    await host.approve('login');
    expect(await updates()).toEqual([
      'refs/heads/for/main/login created',
      'refs/heads/gate/main/login created',
    ]);
    const { source } = host.connection;
    const { signal } = new AbortController();
    const branches = await source.branches(host.projects[0], signal);
    expect(branches.map(({ branch }) => branch)).toEqual(['for/main/login', 'gate/main/login', 'main']);
    // Plain repositories protect nothing, so no selection leaves a branch out.
    expect(await source.branches(host.projects[0], signal, { excludeUnprotected: true })).toEqual(branches);
    expect(await source.changeOfUrl('acme/app@main/login', new Set(host.projects), signal)).toBeUndefined();
  });

  test('can neither report nor land', () => {
    expect(host.connection).toMatchObject({ readOnly: true });
    expect(host.connection.reporter).toBeUndefined();
    expect(host.connection.landing).toBeUndefined();
  });

  test('refuses what pipelines cannot have of it, each at its place', () => {
    const problem = { code: 'read-only-connection', text: expect.stringContaining('set "proposals"') };
    const refused = (...path: readonly string[]) => ({ kind: 'invalid', problems: [{ ...problem, path }] });
    expect(config().parseTrigger({ event: ['ref-updated', 'proposed'] })).toEqual(refused('event'));
    expect(config().parseRequirement({ open: true })).toEqual(refused());
    expect(config().parseReporter({ note: true })).toEqual(refused());
  });
});
