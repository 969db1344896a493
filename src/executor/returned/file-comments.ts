/**
 * `zuul.file_comments` that a build returned: remarks about lines of files of its change, and their lines in the change as it was proposed.
 *
 *     {"src/main.c": [{"line": 42, "message": "too long", "level": "warning", "range": {"start_line": 41, …}}]}
 *
 * The job saw the file as it was tested, with what the branch and changes ahead brought. A line that the change does not have becomes the
 * nearest one before it.
 */
import { mapLines } from '../../lib/map-lines.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { Json, Variables } from '../../model/job.ts';
import { isVariables } from '../../model/merge-vars.ts';
import { parseCommitId } from '../../model/project.ts';
import type { CommentRange, ReturnedComment } from '../../model/returned.ts';
import type { Repositories } from '../deps.ts';

/** Of one build, over all files. */
const MOST_COMMENTS = 100;
const LONGEST_MESSAGE = 2_000;
const LONGEST_PATH = 500;
/** Files whose lines are mapped. */
const MOST_FILES = 20;
const LAST_LINE = 2 ** 31 - 1;

/** All but what cannot be used, of which a warning says how many. */
export function fileCommentsOf(
  { file_comments: given }: Variables,
  warnings: string[],
): readonly ReturnedComment[] {
  if (given === undefined || given === null) return [];
  if (!isVariables(given)) {
    warnings.push('zuul.file_comments is not a mapping of files to lists of comments; it is ignored');
    return [];
  }
  const all = Object.entries(given).flatMap(([file, list]) =>
    (Array.isArray(list) ? list : [undefined]).map(each => commentOf(file, each)),
  );
  const usable = all.filter(each => each !== undefined);
  if (usable.length < all.length)
    warnings.push(`${all.length - usable.length} of zuul.file_comments are malformed; they are ignored`);
  if (usable.length > MOST_COMMENTS)
    warnings.push(`of ${usable.length} comments in zuul.file_comments the first ${MOST_COMMENTS} are kept`);
  return usable.slice(0, MOST_COMMENTS);
}

function commentOf(file: string, value: Json | undefined): ReturnedComment | undefined {
  if (value === undefined || !isVariables(value) || file === '' || file.length > LONGEST_PATH)
    return undefined;
  const { line, message, range } = value;
  const level = levelOf(value.level);
  const found = range === undefined ? undefined : rangeOf(range);
  const at = line === undefined ? (found?.endLine ?? 1) : lineOf(line);
  if (at === undefined || (range !== undefined && found === undefined)) return undefined;
  if (typeof message !== 'string' || level === undefined) return undefined;
  const own = { file, line: at, level, message: message.slice(0, LONGEST_MESSAGE) };
  return found === undefined ? own : { ...own, range: found };
}

function levelOf(value: Json | undefined): ReturnedComment['level'] | undefined {
  if (value === undefined) return 'warning';
  return value === 'info' || value === 'warning' || value === 'error' ? value : undefined;
}

function rangeOf(value: Json): CommentRange | undefined {
  if (!isVariables(value)) return undefined;
  const [startLine, endLine] = [lineOf(value.start_line), lineOf(value.end_line)];
  const [startCharacter, endCharacter] = [columnOf(value.start_character), columnOf(value.end_character)];
  if (startLine === undefined || endLine === undefined) return undefined;
  if (startCharacter === undefined || endCharacter === undefined) return undefined;
  if (endLine < startLine || (endLine === startLine && endCharacter < startCharacter)) return undefined;
  return { startLine, startCharacter, endLine, endCharacter };
}

/** From 1. */
function lineOf(value: Json | undefined): number | undefined {
  return isWhole(value) && value >= 1 ? value : undefined;
}

/** From 0. */
function columnOf(value: Json | undefined): number | undefined {
  return isWhole(value) && value >= 0 ? value : undefined;
}

function isWhole(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value <= LAST_LINE;
}

/** Where the lines are in the change's own commit; as they are where that cannot be read, or is what was tested. */
export async function mappedComments(
  comments: readonly ReturnedComment[],
  { zuul, projects }: Pick<BuildRequest, 'zuul' | 'projects'>,
  repositories: Pick<Repositories, 'fileLines'>,
): Promise<readonly ReturnedComment[]> {
  const { commit_id: own, project } = zuul;
  const canonical = isVariables(project) ? project.canonical_name : undefined;
  const tested = projects.find(({ canonicalName }) => canonicalName === canonical);
  if (tested === undefined || typeof own !== 'string' || own === tested.commit) return comments;
  const maps = new Map<string, (line: number) => number>();
  for (const { file } of comments) {
    if (maps.has(file) || maps.size >= MOST_FILES) continue;
    const read = (commit: string) => repositories.fileLines(tested.project, parseCommitId(commit), file);
    maps.set(file, mapping(await read(tested.commit), await read(own)));
  }
  return comments.map(comment => atLines(comment, maps.get(comment.file) ?? (line => line)));
}

function mapping(
  tested: readonly string[] | undefined,
  own: readonly string[] | undefined,
): (line: number) => number {
  if (tested === undefined || own === undefined) return line => line;
  const found = mapLines(tested, own);
  return line => {
    for (let at = Math.min(line, tested.length); at > 0; at -= 1) {
      const there = found.get(at);
      if (there !== undefined) return there;
    }
    return 1;
  };
}

function atLines(comment: ReturnedComment, map: (line: number) => number): ReturnedComment {
  const { line, range } = comment;
  const moved = { ...comment, line: map(line) };
  if (range === undefined) return moved;
  const [startLine, endLine] = [map(range.startLine), map(range.endLine)];
  // Without its last line a range may end where it begins.
  const { range: _, ...whole } = moved;
  return endLine - startLine === range.endLine - range.startLine
    ? { ...moved, range: { ...range, startLine, endLine } }
    : whole;
}
