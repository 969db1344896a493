/**
 * The path of an API request with `{}` for each name or id, for span names; `url.path` has the path itself.
 *
 *     routeOf('/api/components/executor-4/pause')      // '/api/components/{}/pause'
 */
export function routeOf(path: string): string {
  const segments = path
    .replace(WITH_SLASHES, `/$1/${NAME}/$2`)
    .split('/')
    .map(segment => (segment === '' || WORDS.has(segment) ? segment : NAME));
  return segments.filter((segment, index) => segment !== NAME || segments[index - 1] !== NAME).join('/');
}

const NAME = '{}';
/** Names of projects and changes contain slashes, and may contain route segments: `org/project`. */
const WITH_SLASHES = /\/(project|changes)\/.+\/(\w+(?:\/dry-run)?)$/;
/** Literal segments of the routes in `doc/reference/http-api.md`. */
const WORDS: ReadonlySet<string> = new Set([
  ...['api', 'info', 'connections', 'components', 'pause', 'resume', 'stop', 'tenants', 'tenant', 'status'],
  ...[
    'change',
    'events',
    'pipelines',
    'pipeline',
    'delays',
    'projects',
    'jobs',
    'semaphores',
    'config-errors',
    'items',
  ],
  ...[
    'item',
    'trace',
    'explain',
    'compare',
    'changes',
    'decisions',
    'builds',
    'build',
    'log',
    'buildsets',
    'buildset',
  ],
  ...['project', 'enqueue', 'dequeue', 'rerun', 'state', 'promote', 'dry-run', 'otlp', 'v1', 'traces'],
]);
