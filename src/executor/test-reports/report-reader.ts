/** A reader of one file with results of tests, fed with its text piece by piece. */
import type { CaseCollector } from './test-cases.ts';

/** Made for one file. */
export interface ReportReader {
  /** @throws Error with the reason, for people, when the file is not of its format; what it gave before counts. */
  write(text: string): void;
  /** Nothing follows. @throws Error likewise. */
  end(): void;
}

/** The formats, each with how a file of it is recognised. */
export interface ReportFormat {
  /** By its name, without its directory. */
  readonly named: RegExp;
  /** By its first kilobytes. */
  isIn(head: string): boolean;
  /** @param name path of the file, for suites without a name. */
  reader(cases: CaseCollector, name: string): ReportReader;
}
