/**
 * In what order test files begin. Pure.
 *
 * A file that waits for a clock, a server or a killed process leaves a processor idle unless another beside it computes. So files
 * are of three kinds, and each kind is spread over the whole run: all begin together, and end together. Within a kind those that take
 * longest begin first, so that no worker is left with one of them when the others are done.
 *
 * Files that start a dozen processes each (chaos, cluster) are a kind of their own: together they wait in vain for each other's
 * processes on a small machine.
 */
type Kind = 'processes' | 'waits' | 'computes';

interface Room {
  readonly files: RegExp;
  readonly kind: Kind;
  /** What a file takes that was never run. */
  readonly seconds: number;
}

/** The first that fits. */
const ROOMS: readonly Room[] = [
  { files: /\/test\/e2e\/(chaos|cluster)\//, kind: 'processes', seconds: 40 },
  { files: /\/test\/github\/stories\//, kind: 'waits', seconds: 12 },
  { files: /\/test\/(github|gerrit|conformance|check)\//, kind: 'waits', seconds: 5 },
  { files: /\/test\/unit\/(store\/zookeeper|cmd|git)\//, kind: 'waits', seconds: 2 },
  { files: /\/test\/simulation\/[^/]+$/, kind: 'computes', seconds: 70 },
  { files: /\/test\/(e2e|scenario)\//, kind: 'computes', seconds: 6 },
];
const OTHERS: Pick<Room, 'kind' | 'seconds'> = { kind: 'computes', seconds: 1 };

/**
 * @param path absolute, of a file.
 * @param lasted seconds of its last run; undefined: it was never run.
 */
export function mixedOrder<File>(
  files: readonly File[],
  path: (file: File) => string,
  lasted: (file: File) => number | undefined,
): readonly File[] {
  const rated = files.map(file => {
    const room = ROOMS.find(each => each.files.test(path(file))) ?? OTHERS;
    return { file, kind: room.kind, seconds: lasted(file) ?? room.seconds };
  });
  const placed = [...Map.groupBy(rated, ({ kind }) => kind).values()].flatMap(ofKind => {
    const total = ofKind.reduce((sum, { seconds }) => sum + seconds, 0);
    let before = 0;
    return ofKind
      .toSorted((a, b) => b.seconds - a.seconds)
      .map(({ file, seconds }) => {
        const place = total === 0 ? 0 : before / total;
        before += seconds;
        return { file, seconds, place };
      });
  });
  return placed.toSorted((a, b) => a.place - b.place || b.seconds - a.seconds).map(({ file }) => file);
}
