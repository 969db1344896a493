/** `[notify NAME]`, and what becomes of it with the connection that it names. */
import { expect, test } from 'vitest';
import { mqttLanguages } from '../../../drivers/mqtt/languages.ts';
import { smtpLanguages } from '../../../drivers/smtp/languages.ts';
import { webhookLanguages } from '../../../drivers/webhook/languages.ts';
import { readNotices } from '../../../src/cmd/service/read-notices.ts';
import { showOptionProblem } from '../../../src/lib/option-reader.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';

const connections = {
  messengerLanguages: new Map([
    ['chat', webhookLanguages],
    ['mail', smtpLanguages],
    ['broker', mqttLanguages],
  ]),
};

function rulesOf(text: string) {
  const content = new TextEncoder().encode(`[scheduler]\ntenant_config = tenants.yaml\n${text}`);
  const parsed = parseSettings({ content, file: 'gatehouse.conf', directory: '/etc', environment: {} });
  if (parsed.kind === 'invalid') return { rules: [], errors: parsed.problems.map(showOptionProblem) };
  return readNotices(parsed.settings.notify, connections);
}

test('a rule says what it wants, and what its connection needs beside that', () => {
  const { rules, errors } = rulesOf(
    '[notify team]\nconnection = chat\nevents = failed, head-stuck\npipelines = gate\nstuck_after = 1h\nchannel = core\n[notify all]\nconnection = mail\nto = a@example.org\n',
  );
  expect(errors).toEqual([]);
  expect(rules).toEqual([
    {
      ...{ name: 'team', connection: 'chat', config: { channel: 'core' }, events: ['failed', 'head-stuck'] },
      ...{ tenants: [], pipelines: ['gate'], projects: [] },
      ...{ stuckAfterMs: 3_600_000, slippedByMs: 1_800_000, mostPerHour: 60 },
    },
    expect.objectContaining({
      ...{ name: 'all', connection: 'mail', config: { to: 'a@example.org' } },
      events: ['landed', 'failed', 'reset-twice', 'head-stuck', 'eta-slipped'],
    }),
  ]);
});

test.each([
  ['[notify]\nconnection = chat\n', ':3: [notify]: lacks a name; write [notify NAME]'],
  ['[notify a b]\nconnection = chat\n', ':3: [notify a b]: "a b" is not a name of up to 60'],
  ['[notify a]\n', ':3: [notify a] connection: is required and missing'],
  [
    '[notify a]\nconnection = chat\nevents = fialed\n',
    ':5: [notify a] events: "fialed" is not one of landed, failed, reset-twice, head-stuck, eta-slipped, did you mean "failed"?',
  ],
  [
    '[notify a]\nconnection = broker\n',
    ':3: [notify a] connection: "broker" is no [connection NAME] that takes notices; there are: chat, mail',
  ],
  ['[notify a]\nconnection = chat\nstuk_after = 5m\n', ':5: [notify a] stuk_after:'],
  ['[notify a]\nconnection = mail\nto = <a@\n', ':5: [notify a] to:'],
])('%j is refused', (text, error) => {
  const { rules, errors } = rulesOf(text);
  expect(rules).toEqual([]);
  expect(errors).toEqual([expect.stringContaining(`gatehouse.conf${error}`)]);
});
