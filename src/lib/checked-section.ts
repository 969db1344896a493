/** One section of options with the mistakes that its reader finds beyond single values, and secrets that may stand in files. */
import type { OptionReader } from './option-reader.ts';
import { Secret } from './secret.ts';

/** A section while it is read. */
export interface CheckedSection {
  readonly read: OptionReader;
  /** Text of a file. @throws when it cannot be read. */
  readonly readFile: (path: string) => string;
  refuse(option: string, reason: string): void;
  /** Nothing was refused here; the reader has its own mistakes. */
  isValid(): boolean;
}

/** @param readFile text of a file. @throws when it cannot be read. */
export function checkedSection(read: OptionReader, readFile: (path: string) => string): CheckedSection {
  let valid = true;
  return {
    read,
    readFile,
    refuse(option, reason) {
      valid = false;
      read.refuse(option, reason);
    },
    isValid: () => valid,
  };
}

/** A secret that is written, or stands alone in a file: `option` or `<option>_file`. */
export function writtenOrInFile(
  { readFile, refuse }: CheckedSection,
  option: string,
  written: Secret | undefined,
  file: string | undefined,
): Secret | undefined {
  if (file === undefined) return written;
  if (written !== undefined) {
    refuse(`${option}_file`, `stands beside "${option}": write only one of them`);
    return undefined;
  }
  const text = textOfFile(`${option}_file`, file, { readFile, refuse })?.trim();
  if (text === '') refuse(`${option}_file`, `${file} is empty`);
  return text === undefined || text === '' ? undefined : new Secret(text);
}

/** @returns undefined: it cannot be read, which was refused. */
export function textOfFile(
  option: string,
  file: string,
  { readFile, refuse }: Pick<CheckedSection, 'readFile' | 'refuse'>,
): string | undefined {
  try {
    return readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    refuse(option, `${file} cannot be read (${code})`);
    return undefined;
  }
}
