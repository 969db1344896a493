/** Every option the sources read stands in `etc/gatehouse.conf` and in the reference, and neither names one that is not read. */
import { describe, expect, test } from 'vitest';
import { sectionOf, textOf } from './repository-text.ts';

const READERS =
  /\bread(?:er)?\.(?:string|required|path|oneOf|integer|number|boolean|duration|url|secret|words)(?:<[^>]*>)?\(\s*'([a-z0-9_]+)'/g;
/** Functions of ours that take the reader and an option's name. */
const OWN_READERS = /\b(?:identity|template|absolutePath)\(read, '([a-z0-9_]+)'/g;

function optionsIn(source: string): readonly string[] {
  const found = [READERS, OWN_READERS].flatMap(pattern => [...source.matchAll(pattern)]);
  return [...new Set(found.map(([, option = '']) => option))].sort();
}

/** The body of `export function read<Name>(...)`, up to the next function. */
function readerOf(file: string, name: string): string {
  const source = textOf(file);
  const start = source.indexOf(`function ${name}(`);
  if (start < 0) throw new Error(`${file} has no function ${name}`);
  const end = source.slice(start + 1).search(/^(?:export )?function /m);
  return end < 0 ? source.slice(start) : source.slice(start, start + 1 + end);
}

const SECTIONS = 'src/settings/read-sections.ts';
const READ: readonly (readonly [section: string, options: readonly string[]])[] = [
  [
    'scheduler',
    ['readScheduler', 'holdExpirationsOf', 'tenantConfigOf', 'ansibleOf']
      .flatMap(name => optionsIn(readerOf(SECTIONS, name)))
      .sort(),
  ],
  ['store', optionsIn(readerOf(SECTIONS, 'readStore'))],
  ['database', optionsIn(readerOf(SECTIONS, 'readDatabase'))],
  [
    'web',
    ['readWeb', 'readCommandSocket', 'readTrustedProxies']
      .flatMap(name => optionsIn(readerOf(SECTIONS, name)))
      .sort(),
  ],
  ['merger', optionsIn(readerOf(SECTIONS, 'readMerger'))],
  [
    'executor',
    [
      ...optionsIn(readerOf(SECTIONS, 'readExecutor')),
      ...optionsIn(readerOf(SECTIONS, 'readGovernor')),
      ...optionsIn(readerOf(SECTIONS, 'readZone')).filter(option => option !== 'labels'),
      ...optionsIn(readerOf(SECTIONS, 'readLogServer')),
      ...optionsIn(readerOf(SECTIONS, 'readRelay')),
    ].sort(),
  ],
  ['log_store', optionsIn(textOf('src/settings/log-store-section.ts'))],
  ['zookeeper', optionsIn(textOf('src/settings/zookeeper-section.ts'))],
  ['log', optionsIn(readerOf(SECTIONS, 'readLog'))],
  ['history', optionsIn(textOf('src/settings/history-section.ts'))],
  ['metrics', optionsIn(textOf('src/settings/metrics-section.ts'))],
  [
    'tracing',
    ['tracing-settings', 'collector-options', 'keep-option']
      .flatMap(name => optionsIn(textOf(`src/settings/${name}.ts`)))
      .sort(),
  ],
  ['notify', optionsIn(textOf('src/settings/notify-section.ts'))],
  ['auth', optionsIn(textOf('src/settings/auth-section.ts'))],
  ['connection', [...optionsIn(textOf('drivers/git/options.ts')), 'driver'].sort()],
  ['connection github.com', [...optionsIn(textOf('drivers/github/options.ts')), 'driver'].sort()],
  ['connection gerrit', [...optionsIn(textOf('drivers/gerrit/options.ts')), 'driver'].sort()],
  ['connection mail', [...optionsIn(textOf('drivers/smtp/options.ts')), 'driver'].sort()],
  ['connection broker', [...optionsIn(textOf('drivers/mqtt/options.ts')), 'driver'].sort()],
  ['connection chat', [...optionsIn(textOf('drivers/webhook/options.ts')), 'driver'].sort()],
];

/** Options of `etc/gatehouse.conf` by section, commented out or not. */
function sampleOptions(section: string): readonly string[] {
  const text = textOf('etc/gatehouse.conf').replace(/^#(?=\[)/gm, ''); // a section may be commented out
  const [, body = ''] =
    new RegExp(`^\\[${section}(?: [^\\]]+)?\\]\\n(.*?)(?=^\\[|$(?![\\s\\S]))`, 'ms').exec(text) ?? [];
  return [...body.matchAll(/^#?([a-z0-9_]+) =/gm)].map(([, option = '']) => option).sort();
}

const HEADINGS: ReadonlyMap<string, string> = new Map([
  ['auth', '`[auth NAME]`'],
  ['notify', '`[notify NAME]`'],
  ['connection', 'With `driver = git`'],
  ['connection github.com', 'With `driver = github`'],
  ['connection gerrit', 'With `driver = gerrit`'],
  ['connection mail', 'With `driver = smtp`'],
  ['connection broker', 'With `driver = mqtt`'],
  ['connection chat', 'With `driver = webhook`'],
]);

/** First column of the tables of a section of the reference. */
function documentedOptions(section: string): readonly string[] {
  const body = sectionOf(textOf('doc/reference/settings.md'), HEADINGS.get(section) ?? `\`[${section}]\``);
  return [...body.matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map(([, option = '']) => option).sort();
}

/**
 * The first goes with another protocol than the default only, the second in place of another option: the sample, which is valid with all its
 * options, describes them in prose.
 */
const NOT_AS_IT_STANDS: ReadonlySet<string> = new Set(['certificate_file', 'tenant_config_script']);

describe('settings', () => {
  test('the sources name options in every section', () => {
    expect(READ.filter(([, options]) => options.length === 0)).toEqual([]);
    expect(READ.flatMap(([, options]) => options).length).toBeGreaterThan(45);
  });

  test.each(READ)('etc/gatehouse.conf shows exactly the options of [%s]', (section, options) => {
    expect(sampleOptions(section)).toEqual(options.filter(option => !NOT_AS_IT_STANDS.has(option)));
  });

  test.each(READ)('doc/reference/settings.md explains exactly the options of [%s]', (section, options) => {
    expect(documentedOptions(section)).toEqual(options);
  });
});
