/**
 * The media type of a file that a job left, by its name alone: what a job wrote is never sniffed. Everything is served with
 * {@link SANDBOX}, so that HTML and SVG are shown and can do nothing: no script, no form, an origin of their own.
 */

const TEXT = 'text/plain; charset=utf-8';

const TYPES: { readonly [ending: string]: string } = {
  css: 'text/css; charset=utf-8',
  gif: 'image/gif',
  gz: 'application/gzip',
  htm: 'text/html; charset=utf-8',
  html: 'text/html; charset=utf-8',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  tar: 'application/x-tar',
  webp: 'image/webp',
  xz: 'application/x-xz',
  zip: 'application/zip',
};

/** Endings of files that are text for people. */
const TEXTS: ReadonlySet<string> = new Set([
  ...['log', 'txt', 'md', 'rst', 'yaml', 'yml', 'xml', 'csv', 'tap', 'ini', 'conf', 'cfg', 'diff', 'patch'],
  ...['sh', 'py', 'js', 'ts', 'c', 'h', 'go', 'rs', 'rb', 'java', 'subunit', 'out', 'err'],
]);

/** `Content-Security-Policy` of files of jobs. */
export const SANDBOX = [
  'sandbox',
  "default-src 'none'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "frame-ancestors 'none'",
].join('; ');

/** @param name with or without its directories. */
export function fileType(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  const ending = last.includes('.') ? last.slice(last.lastIndexOf('.') + 1) : 'txt';
  return TYPES[ending] ?? (TEXTS.has(ending) ? TEXT : 'application/octet-stream');
}
