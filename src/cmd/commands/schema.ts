/** `gatehouse schema`: the configuration language as a JSON Schema, for editors. */
import type { Command } from 'commander';
import { type Io, print } from '../terminal/io.ts';

const EXAMPLES = `
Examples:
  gatehouse schema >~/.config/gatehouse.schema.json

yaml-language-server, which many editors use, checks files with it when its settings say so:
  "yaml.schemas": {"/home/me/.config/gatehouse.schema.json": [".zuul.yaml", "zuul.yaml", ".zuul.d/**/*.yaml", "zuul.d/**/*.yaml"]}
  "yaml.customTags": ["!encrypted/pkcs1-oaep sequence", "!encrypted/pkcs1-oaep scalar"]`;

/** @param done gets the exit status, which is 0. */
export function addSchemaCommand(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('schema')
    .summary('print a JSON Schema of the configuration language')
    .description('Prints the configuration language as a JSON Schema, for editors.')
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const { languageSchema } = await import('../../layout/language-schema.ts');
      print(io, JSON.stringify(languageSchema(), null, 2));
      done(0);
    });
}
