// The building blocks of the reference's pages. They are rendered when the dashboard is built, so nothing here has state:
// `reader.ts` contains what runs in the browser.

import { Copy } from "lucide-react";
import type { ReactNode } from "react";
import { WithCode } from "../ui/code/code-block.tsx";
import { tokenClass } from "../ui/code/highlight.tsx";
import { type Language, type Token, tokenize } from "../ui/code/tokenize.ts";
import { ScrollRegion } from "../ui/page.tsx";
import { slots } from "./slots.ts";

/** Coloured code, with a button that copies it. */
export function Code({
  code,
  label,
  language,
}: {
  code: string;
  label: string;
  language: Language | undefined;
}) {
  return (
    <div data-code="" className="flex min-w-0 items-start">
      <ScrollRegion
        as="pre"
        className="max-h-96 min-w-0 flex-1 overflow-auto p-3 font-mono text-xs leading-5"
      >
        <code>
          <Coloured code={code} language={language} />
        </code>
      </ScrollRegion>
      <button
        type="button"
        data-copy=""
        aria-label={`Copy ${label}`}
        className="m-1.5 rounded-md p-1.5 text-ink-3 hover:bg-hover hover:text-ink data-[copy=done]:text-pass"
      >
        <Copy className="size-4" aria-hidden />
      </button>
    </div>
  );
}

const slotPattern = new RegExp(
  `(${Object.keys(slots)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|")})`,
);

/** The code in coloured parts; the ones that depend on the reader are marked. */
function Coloured({ code, language }: { code: string; language: Language | undefined }) {
  const tokens = (language && tokenize(code, language)) ?? [{ kind: "plain" as const, text: code }];
  let start = 0;
  return code.split(slotPattern).map((part, index) => {
    const end = start + part.length;
    const inPart = cut(tokens, start, end);
    start = end;
    return index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not move
      <span key={index} data-slot={part} className={tokenClass[inPart[0]?.kind ?? "plain"]}>
        {part}
      </span>
    ) : (
      inPart.map(({ kind, text }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <span key={`${index} ${place}`} className={tokenClass[kind]}>
          {text}
        </span>
      ))
    );
  });
}

/** The parts of a text from one character to another. */
function cut(tokens: readonly Token[], start: number, end: number): Token[] {
  let at = 0;
  return tokens.flatMap(({ kind, text }) => {
    const part = text.slice(Math.max(0, start - at), Math.max(0, end - at));
    at += text.length;
    return part === "" ? [] : [{ kind, text: part }];
  });
}

/** A box with a title line above its content. */
export function Box({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <section className="min-w-0 overflow-hidden rounded-lg border border-line bg-sunken">
      <header className="flex min-h-9 flex-wrap items-center gap-x-3 border-b border-line bg-surface px-3 text-xs">
        {title}
      </header>
      {children}
    </section>
  );
}

/** A heading with a link to itself. */
export function Heading({
  id,
  as: Tag = "h2",
  children,
}: {
  id: string;
  as?: "h2" | "h3";
  children: ReactNode;
}) {
  return (
    <Tag
      id={id}
      className={`group scroll-mt-16 font-semibold tracking-tight lg:scroll-mt-6 ${Tag === "h2" ? "mt-8 mb-2 text-base" : "mt-6 mb-1 text-sm"}`}
    >
      {children}
      <a
        href={`#${id}`}
        aria-label="Link to this section"
        className="ml-1.5 text-ink-3 opacity-0 group-hover:opacity-100 focus:opacity-100"
      >
        #
      </a>
    </Tag>
  );
}

const methodColours: Record<string, string> = {
  GET: "text-accent-ink",
  POST: "text-pass",
  PATCH: "text-warn",
  PUT: "text-warn",
  DELETE: "text-fail",
};

export function Method({ method, isShort = false }: { method: string; isShort?: boolean }) {
  return (
    <span className={`font-mono text-xs font-semibold ${methodColours[method] ?? ""}`}>
      {isShort ? method.slice(0, method === "DELETE" ? 3 : undefined) : method}
    </span>
  );
}

/** A sentence of the OpenAPI document; text between backticks is code. */
export function Sentence({ text, isQuiet = false }: { text: string; isQuiet?: boolean }) {
  return (
    <p className={`wrap-anywhere ${isQuiet ? "text-xs text-ink-3" : "text-ink-2"}`}>
      <WithCode text={text} />
    </p>
  );
}
