import { Marked, type Token, type Tokens } from 'marked';

/** One Markdown text as HTML. */
interface Rendered {
  readonly html: string;
  /** Below the title, in order. */
  readonly headings: readonly Heading[];
  /** What the search looks through: the text below the title, then that below each heading. */
  readonly sections: readonly { readonly anchor: string; readonly title: string; readonly text: string }[];
}

interface Heading {
  readonly depth: number;
  readonly anchor: string;
  /** HTML. */
  readonly html: string;
}

/** @param linkTo the address of a link or picture of the text, in the site. */
export function renderMarkdown(markdown: string, linkTo: (href: string) => string): Rendered {
  const headings: Heading[] = [];
  const anchors = anchorMaker();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens);
        const anchor = anchors(text);
        if (depth > 1) headings.push({ depth, anchor, html });
        const link =
          depth > 1 ? ` <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>` : '';
        return `<h${depth} id="${anchor}">${html}${link}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escaped(linkTo(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escaped(linkTo(href))}" alt="${escaped(text)}" loading="lazy">`;
      },
      // The texts have none: what looks like it is meant to be read.
      html: ({ text }) => escaped(text),
    },
    hooks: {
      // Wide tables and code scroll by themselves, by the keyboard as well.
      postprocess: html =>
        html
          .replaceAll('<table>', '<div class="table" tabindex="0" role="region" aria-label="Table"><table>')
          .replaceAll('</table>', '</table></div>')
          .replaceAll('<pre>', '<pre tabindex="0">'),
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { html: withoutEmptyHeads(html), headings, sections: sectionsOf(marked.lexer(markdown)) };
}

/** GitHub's anchors of the headings of one text, given as Markdown, in order: a later one of the same words has a number. */
function anchorMaker(): (heading: string) => string {
  const seen = new Map<string, number>();
  return heading => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  };
}

/** For HTML, attributes included. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Tables whose columns have no names. */
function withoutEmptyHeads(html: string): string {
  return html.replaceAll(/<thead>\s*<tr>\s*(<th>\s*<\/th>\s*)+<\/tr>\s*<\/thead>/g, '');
}

function sectionsOf(tokens: readonly Token[]): Rendered['sections'] {
  const sections: { anchor: string; title: string; text: string }[] = [];
  const anchors = anchorMaker();
  for (const token of tokens) {
    if (token.type === 'heading')
      sections.push({ anchor: anchors(token.text), title: textOf(token), text: '' });
    else {
      const last = sections.at(-1);
      if (last !== undefined) last.text = `${last.text} ${textOf(token)}`.replaceAll(/\s+/g, ' ').trim();
    }
  }
  return sections;
}

/** Without its marks. */
function textOf(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].map(row => row.map(cell => textsOf(cell.tokens)).join(' ')).join('. ');
  }
  if (token.type === 'list') return (token as Tokens.List).items.map(item => textsOf(item.tokens)).join(' ');
  if ('tokens' in token && token.tokens !== undefined) return textsOf(token.tokens);
  return 'text' in token && typeof token.text === 'string' ? token.text : '';
}

function textsOf(tokens: readonly Token[]): string {
  return tokens.map(textOf).join('');
}
