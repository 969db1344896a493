import type { DatabaseConnection } from 'kysely';

/** A statement put together by kysely, as a thread runs it. */
export interface ThreadStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Kysely's connection to a SQLite file that another thread has open. @param run rejects with the error of SQLite. */
export function threadConnection(
  run: (
    statement: ThreadStatement,
  ) => Promise<{ readonly rows: readonly unknown[]; readonly changes?: number }>,
): DatabaseConnection {
  return {
    async executeQuery<Row>({ sql, parameters }: ThreadStatement) {
      const { rows, changes } = await run({ sql, parameters });
      // As with every driver of kysely: the query says what its rows are.
      return {
        rows: rows as Row[],
        ...(changes === undefined ? {} : { numAffectedRows: BigInt(changes) }),
      };
    },
    // biome-ignore lint/correctness/useYield: it is refused.
    async *streamQuery() {
      throw new Error('queries of the history are not streamed');
    },
  };
}
