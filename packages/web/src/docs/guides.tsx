// The guides in `docs/` as pages: Markdown becomes React elements, so that HTML in it stays text.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join, posix } from "node:path";
import type { ReactElement, ReactNode } from "react";
import type { ReferenceEntry } from "../data/palette.ts";
import { buttonClass } from "../ui/button.tsx";
import type { Language } from "../ui/code/tokenize.ts";
import { ScrollRegion } from "../ui/page.tsx";
import type { Operation } from "./openapi.ts";
import { Example, Snippets } from "./operation-page.tsx";
import { Code, Heading } from "./parts.tsx";

export interface Guide {
  /** The path in the repository: `docs/operate/limits.md`. */
  path: string;
  address: string;
  title: string;
  /** The heading under which the navigation lists the guide. */
  group: string;
  markdown: string;
}

/** The introduction of the reference. */
export const introductionPath = "docs/reference/api.md";
const ownFiles = [
  { path: "packages/sdk/README.md", name: "typescript", title: "TypeScript client" },
  { path: "clients/python/README.md", name: "python", title: "Python client" },
];
/** This page is listed with the operations. */
const errorsPath = "docs/reference/errors.md";
/** Guides for people who change Presage. */
const forContributors = ["ARCHITECTURE.md", "STYLE.md", "adding-a-family.md", "contributing.md"];

/** What newcomers should read first; other guides follow by title. */
const readingOrder =
  "delivery datasets traces runs evaluations labels worlds environments training reality operate-access operate-settings operate-monitoring operate-runs operate-limits".split(
    " ",
  );

export function readGuides(root: string): Guide[] {
  const read = (path: string, name: string, group: string, title?: string): Guide => {
    const markdown = readFileSync(join(root, path), "utf8");
    const heading = /^# (.+)$/m.exec(markdown)?.[1] ?? name;
    const address = path === errorsPath ? "/docs/errors" : `/docs/guides/${name}`;
    return { path, address, title: title ?? heading, group, markdown };
  };
  const inFolder = (folder: string, group: string, prefix: string) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md") && !forContributors.includes(name))
      .map((name) => posix.join(folder, name))
      .filter((path) => path !== introductionPath)
      .map((path) => read(path, prefix + basename(path, ".md"), group));
  return [
    ...inFolder("docs", "Guides", ""),
    ...ownFiles.map(({ path, name, title }) => read(path, name, "Guides", title)),
    ...inFolder("docs/reference", "Guides", "reference-"),
    ...inFolder("docs/operate", "Operate", "operate-"),
  ].sort(
    (one, other) =>
      one.group.localeCompare(other.group) ||
      placeOf(one) - placeOf(other) ||
      one.title.localeCompare(other.title),
  );
}

function placeOf({ address }: Guide): number {
  const place = readingOrder.indexOf(address.slice("/docs/guides/".length));
  return place === -1 ? readingOrder.length : place;
}

/** The most characters of a section's code that the palette searches. */
const mostKeywords = 240;

/** The guides and their sections, for the palette; names in code are found as well. */
export function guideEntries(guides: readonly Guide[]): ReferenceEntry[] {
  return guides.flatMap((guide) => {
    const { title, address, markdown } = guide;
    const [, ...sections] = withoutCode(markdown).split(/^#{2,3} /m);
    const headings = headingsOf(markdown).filter(({ level }) => level === 2 || level === 3);
    return [
      { title, hint: firstWords(guide).slice(0, 120), address },
      ...headings.map(({ title: heading, id }, index) => {
        const names = [...(sections[index] ?? "").matchAll(/`([^`\n]+)`|\*\*(.+?)\*\*/g)].map(
          ([, code, bold]) => code ?? bold ?? "",
        );
        const keywords = [...new Set(names)].join(" ").slice(0, mostKeywords);
        return { title: heading.replaceAll("`", ""), hint: title, keywords, address: `${address}#${id}` };
      }),
    ];
  });
}

interface ArticleProps {
  /** The path of the file, for resolving its links. */
  path: string;
  markdown: string;
  guides: readonly Guide[];
}

/** A page of prose, with its headings next to it (above it on narrow screens) and links to neighbouring pages below. */
export function Article({ path, markdown, guides }: ArticleProps) {
  const headings = headingsOf(markdown).filter(({ level }) => level === 2);
  const place = guides.findIndex((guide) => guide.path === path);
  const list = (
    <ul>
      {headings.map(({ id, title }) => (
        <li key={id}>
          <a href={`#${id}`} className="block py-1 text-ink-2 hover:text-ink">
            {title.replaceAll("`", "")}
          </a>
        </li>
      ))}
    </ul>
  );
  return (
    <article className="mx-auto grid max-w-6xl gap-x-12 px-4 py-6 md:px-8 lg:py-8 xl:grid-cols-[minmax(0,1fr)_12rem]">
      <div className="min-w-0 text-base leading-6 [&>:is(p,ul,ol)]:max-w-184">
        <p className="mb-1 text-xs font-medium text-accent-ink">{guides[place]?.group}</p>
        {headings.length > 1 && (
          <details className="float-right ml-4 text-sm xl:hidden print:hidden">
            <summary className="cursor-pointer py-1 text-xs font-medium text-ink-3">On this page</summary>
            {list}
          </details>
        )}
        <Markdown text={markdown} path={path} guides={guides} />
        {place >= 0 && (
          <nav
            aria-label="Other guides"
            className="mt-10 grid gap-3 border-t border-line pt-6 sm:grid-cols-2"
          >
            {[guides[place - 1], guides[place + 1]].map((guide, index) => (
              <a
                key={guide?.path ?? ""}
                href={guide?.address ?? "/docs/guides"}
                className="rounded-lg border border-line bg-surface px-4 py-3 last:text-right hover:border-accent"
              >
                <span className="block text-xs text-ink-3">{index === 0 ? "Before" : "Next"}</span>
                <span className="font-medium text-accent-ink">{guide?.title ?? "All guides"}</span>
              </a>
            ))}
          </nav>
        )}
      </div>
      {headings.length > 1 && (
        <nav aria-label="On this page" className="sticky top-8 hidden self-start text-sm xl:block">
          <p className="pb-1 text-xs font-medium text-ink-3">On this page</p>
          {list}
        </nav>
      )}
    </article>
  );
}

/** The introduction: what readers may want to do, a first request, and what applies to all requests. */
export function Start({ markdown, guides, first }: Omit<ArticleProps, "path"> & { first: Operation }) {
  const [head = "", ...sections] = markdown.split(/^## /m);
  // The first row is the header.
  const [, ...aims] = [...head.matchAll(/^\| (.+?) \| (.+) \|$/gm)];
  const shown = sections.filter((text) => !/^(A first request|Paths)\n/.test(text));
  const path = introductionPath;
  return (
    <article className="mx-auto max-w-6xl px-4 py-6 md:px-8 lg:py-10">
      <div className="grid items-start gap-x-12 gap-y-2 xl:grid-cols-2 xl:grid-rows-[auto_1fr] *:min-w-0">
        <div className="text-base leading-6">
          <h1 className="text-2xl font-semibold tracking-tight">Documentation</h1>
          <p className="my-3 text-ink-2">
            Presage simulates an environment for agents with a language model or records, and measures how far
            to trust it. One address, JSON in and out, and a key. Each operation is here with its fields, its
            errors and code to copy; <code className="font-mono text-xs">/openapi.json</code> is the same for
            generators of clients.
          </p>
          <p className="flex flex-wrap gap-2">
            <a href="/api-keys" className={buttonClass({ variant: "primary" })}>
              Create an API key
            </a>
            <a href="/docs/guides" className={buttonClass({})}>
              All guides
            </a>
          </p>
          <Heading id="aims">What do you want to do?</Heading>
          <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
            {aims.map(([, aim = "", links = ""]) => (
              <li key={aim} className="px-4 py-2.5">
                <p className="text-sm font-medium first-letter:uppercase">{aim}</p>
                <p className="flex flex-wrap gap-x-4 text-sm">
                  {[...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, text, href = ""]) => {
                    const to = targetOf(href, path, guides);
                    return (
                      <a key={href} href={to?.address} className="text-accent-ink hover:underline">
                        {to?.title ?? text}
                      </a>
                    );
                  })}
                </p>
              </li>
            ))}
          </ul>
        </div>
        <section
          aria-label="A first request"
          className="mt-6 flex flex-col gap-3 xl:sticky xl:mt-0 xl:top-8 xl:row-span-2"
        >
          <p className="text-sm font-medium">A first request</p>
          <Snippets operation={first} />
          {first.responses[200] && <Example status="200" response={first.responses[200]} />}
        </section>
        <div className="text-base leading-6">
          <Markdown text={shown.map((text) => `## ${text}`).join("")} path={path} guides={guides} />
        </div>
      </div>
    </article>
  );
}

/** All guides, each with its first paragraph. */
export function GuideList({ guides }: { guides: readonly Guide[] }) {
  return (
    <article className="mx-auto max-w-6xl px-4 py-6 md:px-8 lg:py-8">
      <h1 className="mb-3 text-2xl font-semibold tracking-tight">Guides</h1>
      {[...Map.groupBy(guides, ({ group }) => group)].map(([group, listed]) => (
        <section key={group}>
          <Heading id={group.toLowerCase()}>{group}</Heading>
          <ul className="my-3 grid gap-3 sm:grid-cols-2">
            {listed.map((guide) => (
              <li key={guide.address} className="rounded-lg border border-line bg-surface px-4 py-3">
                <a href={guide.address} className="font-medium text-accent-ink hover:underline">
                  {guide.title}
                </a>
                <p className="line-clamp-2 text-sm wrap-anywhere text-ink-2">{firstWords(guide)}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </article>
  );
}

/** The first paragraph, without Markdown marks. */
function firstWords({ markdown }: Guide): string {
  const paragraphs = markdown.split(/\n{2,}/).filter((text) => /^[A-Z`*[]/.test(text));
  return (paragraphs[0] ?? "").replace(/\[([^\]]+)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
}

const languages: Record<string, Language> = {
  sh: "shell",
  json: "json",
  py: "python",
  python: "python",
  ts: "typescript",
};

interface Children {
  children?: ReactNode;
}

function Markdown({
  text,
  path,
  guides,
}: Pick<ArticleProps, "path" | "guides"> & { text: string }): ReactElement {
  const components = {
    h1: ({ children }: Children) => (
      <h1 className="mb-3 text-2xl font-semibold tracking-tight">{children}</h1>
    ),
    h2: ({ id = "", children }: Children & { id?: string }) => <Heading id={id}>{children}</Heading>,
    h3: ({ id = "", children }: Children & { id?: string }) => (
      <Heading id={id} as="h3">
        {children}
      </Heading>
    ),
    p: ({ children }: Children) => <p className="my-3 wrap-anywhere text-ink-2">{children}</p>,
    ul: ({ children }: Children) => <ul className="my-3 list-disc pl-5 text-ink-2">{children}</ul>,
    ol: ({ start, children }: Children & { start: number }) => (
      <ol start={start} className="my-3 list-decimal pl-5 text-ink-2">
        {children}
      </ol>
    ),
    li: ({ children }: Children) => <li className="my-1 wrap-anywhere">{children}</li>,
    code: ({ children }: Children) => (
      <code
        className={`rounded bg-sunken px-1 font-mono text-xs text-ink ${textOf(children).length <= 24 ? "whitespace-nowrap" : ""}`}
      >
        {children}
      </code>
    ),
    pre: ({ language = "", children }: Children & { language?: string }) => (
      <div className="my-3 rounded-lg border border-line bg-sunken">
        <Code code={textOf(children).trimEnd()} label="the code" language={languages[language]} />
      </div>
    ),
    table: ({ children }: Children) => (
      <ScrollRegion label="Table" className="my-3 overflow-x-auto rounded-lg border border-line">
        <table className="w-full border-collapse text-sm">{children}</table>
      </ScrollRegion>
    ),
    th: ({ children }: Children) => (
      <th className="bg-sunken px-3 py-1.5 text-left font-medium">{children}</th>
    ),
    td: ({ children }: Children) => (
      <td className="min-w-28 border-t border-line px-3 py-1.5 align-top text-ink-2">{children}</td>
    ),
    a: ({ href, children }: Children & { href: string }) => {
      const to = targetOf(href, path, guides);
      if (to === undefined) return children;
      return (
        <a href={to.address} className="text-accent-ink underline underline-offset-2">
          {/* The guide is a page here, not a file. */}
          {to.title !== undefined && textOf(children).endsWith(".md") ? to.title : children}
        </a>
      );
    },
    // The pictures in the files are for readers elsewhere.
    img: () => null,
  };
  const options = { headings: { ids: true }, noHtmlBlocks: true, noHtmlSpans: true };
  return Bun.markdown.react(text, components, options) as ReactElement;
}

/** Where a link in a file leads on these pages: to a guide or another site; undefined for files that only the repository has. */
function targetOf(
  href: string,
  path: string,
  guides: readonly Guide[],
): { address: string; title?: string | undefined } | undefined {
  if (/^(https?:|#)/.test(href)) return { address: href };
  const [file = "", anchor] = href.split("#");
  const target = posix.join(posix.dirname(path), file);
  const guide = guides.find((one) => one.path === target);
  const address = target === introductionPath ? "/docs" : guide?.address;
  if (address === undefined) return undefined;
  return { address: anchor === undefined ? address : `${address}#${anchor}`, title: guide?.title };
}

function textOf(children: ReactNode): string {
  return Array.isArray(children) ? children.map(textOf).join("") : String(children ?? "");
}

const withoutCode = (markdown: string) => markdown.replace(/^```[\s\S]*?^```/gm, "");

/** The headings with their rendered ids, which are the same as GitHub's: links between guides use them. */
function headingsOf(markdown: string) {
  const seen = new Map<string, number>();
  const lines = withoutCode(markdown).matchAll(/^(#+) (.+)$/gm);
  return [...lines].map(([, marks = "", title = ""]) => {
    const slug = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return { level: marks.length, title, id: count === 0 ? slug : `${slug}-${count}` };
  });
}
