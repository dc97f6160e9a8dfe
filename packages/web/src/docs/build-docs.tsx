// Renders the reference and the guides: a page for each operation and each guide, and a list of all pages for the palette.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import type { ReferenceEntry } from "../data/palette.ts";
import { Frame, type FrameProps, Navigation } from "./frame.tsx";
import { Article, GuideList, guideEntries, introductionPath, readGuides, Start } from "./guides.tsx";
import { type OpenApi, tasksOf } from "./openapi.ts";
import { OperationPage } from "./operation-page.tsx";

interface DocsOptions {
  document: OpenApi;
  /** The root folder of the repository. */
  root: string;
  assets: FrameProps["assets"];
  /** The folder for the compressed pages: `index.html.br`, `predict.html.br`, `guides-worlds.html.br`; and for their navigation. */
  folder: string;
}

export function buildDocs({ document, root, assets, folder }: DocsOptions): ReferenceEntry[] {
  const tasks = tasksOf(document);
  const guides = readGuides(root);
  mkdirSync(folder, { recursive: true });
  function write(address: string, title: string, content: ReactNode): void {
    const page = (
      <Frame title={title} assets={assets}>
        {content}
      </Frame>
    );
    const name = address.slice("/docs/".length).replace("/", "-") || "index";
    save(join(folder, `${name}.html.br`), `<!doctype html>${renderToStaticMarkup(page)}`);
  }
  save(`${folder}-navigation.html.br`, renderToStaticMarkup(<Navigation tasks={tasks} guides={guides} />));

  const entries: ReferenceEntry[] = [{ title: "API reference", hint: "Start", address: "/docs" }];
  const introduction = readFileSync(join(root, introductionPath), "utf8");
  const first = tasks[0]?.groups[0]?.operations.find(({ operationId }) => operationId === "predict");
  if (first === undefined) throw new Error("The operation of the first request is gone");
  write("/docs", "Documentation", <Start markdown={introduction} guides={guides} first={first} />);
  write("/docs/guides", "Guides", <GuideList guides={guides} />);
  for (const { title: task, groups } of tasks)
    for (const operation of groups.flatMap(({ operations }) => operations)) {
      const { operationId, method, path, summary } = operation;
      const address = `/docs/${operationId}`;
      write(
        address,
        summary,
        <OperationPage operation={operation} task={task} schemas={document.components.schemas} />,
      );
      entries.push({ title: summary, hint: `${method} ${path}`, address });
    }
  for (const { address, title, path, markdown } of guides) {
    write(address, title, <Article path={path} markdown={markdown} guides={guides} />);
  }
  return [...entries, ...guideEntries(guides)];
}

const { BROTLI_MODE_TEXT, BROTLI_PARAM_MODE, BROTLI_PARAM_QUALITY } = constants;

/** Each program contains hundreds of pages: Brotli makes them a sixth smaller than gzip. Quality 9 takes as long as 10, and 11 twice as long. */
function save(path: string, html: string): void {
  const params = { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT, [BROTLI_PARAM_QUALITY]: 10 };
  writeFileSync(path, brotliCompressSync(html, { params }));
}
