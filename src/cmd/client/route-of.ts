/**
 * The path of a request of ours with `{}` for each name or id in it, as a span's name may say it: `url.path` has the path itself.
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
/** Names of projects and changes hold slashes, and may hold words of ours: `org/project`. */
const WITH_SLASHES = /\/(project|changes)\/.+\/(\w+)$/;
/** Of the routes in `doc/reference/http-api.md`. */
const WORDS: ReadonlySet<string> = new Set([
  ...['api', 'info', 'connections', 'components', 'pause', 'resume', 'stop', 'tenants', 'tenant', 'status'],
  ...['change', 'events', 'pipelines', 'pipeline', 'delays', 'projects', 'jobs', 'config-errors', 'items'],
  ...['item', 'trace', 'explain', 'changes', 'decisions', 'builds', 'build', 'log', 'buildsets', 'buildset'],
  ...['project', 'dequeue', 'otlp', 'v1', 'traces'],
]);
