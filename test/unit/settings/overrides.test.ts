import { expect, test } from 'vitest';
import { showOptionProblem } from '../../../src/lib/option-reader.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';

const FILE = `[scheduler]
tenant_config = tenants.yaml
state_dir = /tmp/state
`;

function parse(text: string, tracing: Readonly<Record<string, string>>) {
  return parseSettings({
    content: Buffer.from(`${FILE}${text}`),
    file: 'gatehouse.conf',
    directory: '/etc/gatehouse',
    environment: {},
    overrides: new Map([['tracing', new Map(Object.entries(tracing))]]),
  });
}

test('what the command line says wins over the file, whether the file has the section or not', () => {
  const named = { enabled: 'true', endpoint: 'http://other:4317' };
  const wanted = { kind: 'settings', settings: { tracing: { kind: 'on', endpoint: 'http://other:4317' } } };
  expect(parse('', named)).toMatchObject(wanted);
  expect(parse('[tracing]\nenabled = false\nendpoint = http://file:4317\n', named)).toMatchObject(wanted);
  expect(parse('[tracing]\nservice_name = gate\n', named)).toMatchObject({
    settings: { tracing: { serviceName: 'gate' } },
  });
});

test('what is wrong with it is said of the command line', () => {
  const parsed = parse('', { endpoint: 'nowhere' });
  const problems = parsed.kind === 'invalid' ? parsed.problems.map(showOptionProblem) : [];
  expect(problems).toEqual([
    '--endpoint: [tracing] endpoint: "nowhere" is neither host:port nor a URL such as http://collector:4317',
  ]);
});
