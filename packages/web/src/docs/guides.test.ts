import { expect, test } from "bun:test";
import { join } from "node:path";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { findEntries } from "../shell/palette-entries.ts";
import { Article, guideEntries, readGuides } from "./guides.tsx";

const guides = readGuides(join(import.meta.dir, "../../../.."));
const html = (markdown: string, path = "docs/runs.md") =>
  renderToStaticMarkup(createElement(Article, { path, markdown, guides }));

test("every link of a guide to another one leads to a page, and to a heading that it has", () => {
  const pages = new Map(guides.map((guide) => [guide.address, html(guide.markdown)]));
  for (const guide of guides) {
    const page = html(guide.markdown, guide.path);
    for (const [, href = ""] of page.matchAll(/href="([^"]+)"/g)) {
      if (/^https?:/.test(href)) continue;
      const [address = "", anchor] = href.split("#");
      const target = address === "" ? page : /^\/docs(\/guides)?$/.test(address) ? "" : pages.get(address);
      expect([guide.path, href, target === undefined]).toEqual([guide.path, href, false]);
      if (anchor !== undefined)
        expect([guide.path, href, target?.includes(`id="${anchor}"`)]).toEqual([guide.path, href, true]);
    }
  }
});

test("HTML in a guide is text, code has its colours, and what only the repository has is no link", () => {
  const page = html(
    '# A\n\n<script>alert(1)</script> [b](../packages/x.ts) [c](javascript:alert(1))\n\n```json\n{"a": 1}\n```\n',
  );
  expect(page).toContain("&lt;script&gt;");
  expect(page).not.toContain("<script");
  // Links lead only to pages of the docs.
  expect(page).not.toMatch(/href="(?!#|\/docs\/)/);
  expect(page).toContain('class="text-code-property"');
});

test("the palette finds sections of guides by their headings and by the settings in them", () => {
  const pages = new Map(guides.map((guide) => [guide.address, html(guide.markdown, guide.path)]));
  const entries = guideEntries(guides);
  for (const { address } of entries) {
    const [page = "", anchor] = address.split("#");
    if (anchor !== undefined)
      expect([address, pages.get(page)?.includes(`id="${anchor}"`)]).toEqual([address, true]);
  }
  const found = (query: string) =>
    findEntries(
      entries.map((entry) => ({ ...entry, id: entry.address, group: "Guide", action: entry.address })),
      query,
    ).map(({ action }) => action);
  expect(found("retention")).not.toEqual([]);
  expect(found("confidence interval")).not.toEqual([]);
  expect(found("PRESAGE_PRICES")).not.toEqual([]);
});
