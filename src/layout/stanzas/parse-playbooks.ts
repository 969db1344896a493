/**
 * `pre-run`, `run`, `post-run` and `cleanup-run` of jobs.
 *
 *     run:
 *       - playbooks/test.sh
 *       - name: playbooks/migrate.sh
 *         semaphores: [staging]         held while it runs
 *     post-run:
 *       - playbooks/logs.sh
 *       - name: playbooks/release.sh
 *         cleanup: true                 runs also when the build is cancelled
 */
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { parsePlaybookSemaphores } from './parse-semaphore.ts';
import type { PlaybookEntry } from './stanzas.ts';

/** The playbooks of one phase. */
export function parsePlaybooks(
  read: MappingReader,
  key: 'pre-run' | 'run' | 'post-run' | 'cleanup-run',
  subject: string,
  context: ParseContext,
): readonly PlaybookEntry[] | undefined {
  return read
    .list(key)
    ?.flatMap(node => playbookEntry(node, `${key} of ${subject}`, context, key === 'post-run'));
}

/** The older way to write `cleanup: true`. */
export function parseCleanupRun(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): readonly PlaybookEntry[] | undefined {
  const playbooks = parsePlaybooks(read, 'cleanup-run', subject, context);
  if (playbooks === undefined) return undefined;
  const text = `cleanup-run of ${subject} is deprecated, as in Zuul; list the playbook in post-run, with "cleanup: true"`;
  context.problem({ offset: read.offsetOf('cleanup-run'), code: 'deprecated', text, severity: 'warning' });
  return playbooks;
}

function playbookEntry(
  node: YamlNode,
  subject: string,
  context: ParseContext,
  mayCleanUp: boolean,
): readonly PlaybookEntry[] {
  let path: string | undefined;
  let cleanup: boolean | undefined;
  let semaphores: readonly string[] = [];
  if (node.kind === 'mapping') {
    const read = mappingReader(node, subject, context);
    path = read.required('name');
    cleanup = read.boolean('cleanup');
    if (cleanup !== undefined && !mayCleanUp)
      read.refuse(
        read.offsetOf('cleanup'),
        'invalid-value',
        `${subject} cannot have "cleanup": only playbooks of post-run do; remove it`,
      );
    semaphores = parsePlaybookSemaphores(read, subject, context);
    read.unsupported(['nesting-level']);
    read.finish();
  } else if (node.kind === 'scalar' && typeof node.value === 'string') {
    path = node.value;
  }
  if (path !== undefined && isPathBelowRoot(path))
    return [
      {
        path,
        ...(cleanup === true ? { cleanup } : {}),
        ...(semaphores.length === 0 ? {} : { semaphores }),
      },
    ];
  const text = `${subject} must be a path below the root of the repository, such as playbooks/test.sh`;
  if (node.kind !== 'mapping' || path !== undefined)
    context.problem({ offset: node.offset, code: 'invalid-path', text });
  return [];
}

function isPathBelowRoot(path: string): boolean {
  if (path.includes('\0') || path.startsWith('/') || path.includes('\\')) return false;
  return path.split('/').every(part => part !== '' && part !== '.' && part !== '..');
}
