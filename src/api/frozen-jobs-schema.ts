/** Schemas of the documents of frozen-jobs.ts; commands load only the encoders. */
import { document, flag, json, list, text } from './schema.ts';

/** `GET …/freeze-jobs`: the jobs of a branch in a pipeline. */
export const frozenJobsSchema = list(
  document({
    name: text(),
    dependencies: list(document({ name: text(), soft: flag() })),
  }),
  'In the order of the configuration',
);

/** `GET …/freeze-job/<job>`: one of them with all that it inherits. */
export const frozenJobSchema = json("Zuul's fields, as far as Gatehouse has them; `gatehouse` has the rest");
