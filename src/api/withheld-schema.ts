/** What shadow mode withheld, in the documents of an item. */
import { document, list, nullable, text } from './schema.ts';

/** Part of the item's document and of its explanation. */
export const withheldSchema = () =>
  nullable(
    document({
      action: text('Such as success'),
      message: text('The text it would have had, at most 4,000 characters'),
      parts: list(document({ connection: text(), text: text('What its reporter would have done') })),
    }),
    'The last report that was not made, because the tenant is in shadow mode',
  );
