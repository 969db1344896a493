import { describe, expect, test } from 'vitest';
import { readOptions } from '../../../../drivers/git/options.ts';
import { optionReader, showOptionProblem } from '../../../../src/lib/option-reader.ts';

/** Options in the order written, one per line after the header. */
function read(written: Readonly<Record<string, string>>) {
  const options = new Map(
    Object.entries(written).map(([option, value], index) => [
      option,
      { value, at: { file: 'gatehouse.conf', line: index + 2 } },
    ]),
  );
  const reader = optionReader({ name: 'connection local', at: { file: 'gatehouse.conf', line: 1 }, options });
  return { options: readOptions('local', reader), problems: reader.finish().map(showOptionProblem) };
}

describe('the options of a git connection', () => {
  test('need a base URL only: then the connection only reads', () => {
    const { options, problems } = read({ baseurl: '/srv/git' });
    expect(problems).toEqual([]);
    expect(options).toMatchObject({ templates: undefined, pollInterval: 7_200 });
  });

  test("take Zuul's name of the poll interval, and only one name", () => {
    expect(read({ baseurl: '/srv/git', poll_delay: '300' })).toMatchObject({
      options: { pollInterval: 300 },
      problems: [],
    });
    expect(read({ baseurl: '/srv/git', poll_delay: '300', poll_interval: '60' }).problems).toEqual([
      expect.stringMatching(/poll_delay: is Zuul's name of "poll_interval"/),
    ]);
  });

  test('refuse approvals of proposals that there are not', () => {
    expect(read({ baseurl: '/srv/git', approvals: 'ok/{branch}/{topic}' }).problems).toEqual([
      expect.stringMatching(/approvals: goes with "proposals"/),
    ]);
  });

  test('propose and approve with branches when there is a template', () => {
    const { options, problems } = read({ baseurl: '/srv/git', proposals: 'for/{branch}/{topic}' });
    expect(problems).toEqual([]);
    expect(options).toMatchObject({
      baseurl: '/srv/git',
      canonicalHostname: 'local',
      pollInterval: 60,
      webhookToken: undefined,
    });
    expect(options?.templates?.proposals.source).toBe('for/{branch}/{topic}');
    expect(options?.templates?.approvals.source).toBe('gate/{branch}/{topic}');
  });

  test('say all that is wrong at once, with the line', () => {
    const { options, problems } = read({
      proposals: 'for/{branch}',
      approvals: '{branch}/{topic}',
      poll_interval: 'often',
      ssh_key: 'id_rsa',
      pol_interval: '5',
    });
    expect(options).toBeUndefined();
    expect(problems).toEqual([
      'gatehouse.conf:1: [connection local] baseurl: is required and missing',
      expect.stringMatching(/^gatehouse.conf:2: \[connection local\] proposals: "for\/\{branch\}" must name/),
      expect.stringMatching(/^gatehouse.conf:3: .*approvals: .*must begin with text/),
      expect.stringMatching(/^gatehouse.conf:4: .*poll_interval: "often" is not a duration/),
      expect.stringMatching(/^gatehouse.conf:5: .*ssh_key: "id_rsa" is not an absolute path/),
      expect.stringMatching(/^gatehouse.conf:6: .*pol_interval: .*did you mean "poll_interval"/),
    ]);
  });

  test('take a password for http URLs only, and never show it', () => {
    const { options, problems } = read({ baseurl: 'https://git.example.org', http_password: 'canary' });
    expect(problems).toEqual([]);
    expect(options?.httpUser).toBe('git');
    expect(JSON.stringify(options)).not.toContain('canary');
    expect(read({ baseurl: '/srv/git', http_password: 'canary' }).problems).toEqual([
      'gatehouse.conf:3: [connection local] http_password: is for a baseurl that begins with https:// or http://',
    ]);
    expect(read({ baseurl: 'https://git.example.org', http_user: 'a:b' }).problems).toEqual([
      'gatehouse.conf:3: [connection local] http_user: is empty, or holds a colon or a control character',
    ]);
  });

  test('refuse templates that mean the same branches', () => {
    const { options, problems } = read({
      baseurl: '/srv/git',
      proposals: 'for/{branch}/{topic}',
      approvals: 'for/{branch}/{topic}',
    });
    expect(options).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining('must begin differently')]);
  });

  test.each([
    ['git/projects', 'neither scheme'],
    ['ext::sh -c touch%20/tmp/pwned', 'not allowed'],
    ['https://bot:hunter2@git.example.org', 'holds a password'],
  ])('refuse the base URL %s without repeating it', (baseurl, reason) => {
    const { options, problems } = read({ baseurl });
    expect(options).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining(reason)]);
    expect(problems.join()).not.toContain('hunter2');
  });

  test('point to the merger for the identity of notes', () => {
    expect(read({ baseurl: '/srv/git', git_user_name: 'Bot' }).problems).toEqual([
      expect.stringContaining('[merger]'),
    ]);
  });
});
