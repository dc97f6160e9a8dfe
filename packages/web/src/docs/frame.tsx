import { ChevronRight, ExternalLink, Menu, Search } from "lucide-react";
import type { ReactNode } from "react";
import { Mark } from "../shell/navigation.tsx";
import type { Guide } from "./guides.tsx";
import type { Task } from "./openapi.ts";
import { Method } from "./parts.tsx";

interface Assets {
  theme: string;
  styles: string;
  script: string;
  font: string;
}

export interface FrameProps {
  title: string;
  assets: Assets;
  children: ReactNode;
}

/** A page of the reference, with the navigation on the left, or on top on narrow screens. The server inserts the navigation. */
export function Frame({ title, assets, children }: FrameProps) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="csrf-token" content="{{csrf-token}}" />
        <title>{`${title} · Presage`}</title>
        <link rel="icon" href="data:," />
        <link rel="preload" href={assets.font} as="font" type="font/woff2" crossOrigin="" />
        <script src={assets.theme} />
        <link rel="stylesheet" href={assets.styles} />
        <script type="module" src={assets.script} />
      </head>
      <body className="bg-canvas text-ink lg:not-print:grid lg:grid-cols-[17rem_minmax(0,1fr)]">
        <a
          href="#main"
          className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
        >
          Skip to content
        </a>
        <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-surface px-3 lg:hidden print:hidden">
          <button
            type="button"
            popoverTarget="navigation"
            aria-label="Menu"
            className="rounded-md p-1.5 text-ink-3 hover:bg-hover hover:text-ink"
          >
            <Menu className="size-4" aria-hidden />
          </button>
          <Mark />
        </header>
        <aside
          id="navigation"
          aria-label="Presage"
          popover="auto"
          className="inset-y-0 left-0 m-0 h-dvh w-68 max-w-[85vw] flex-col border-0 border-r border-line bg-surface p-0 text-ink backdrop:bg-black/45 open:flex lg:sticky lg:top-0 lg:flex print:hidden"
        >
          {"{{navigation}}"}
        </aside>
        <main id="main" tabIndex={-1} className="min-w-0 outline-none">
          {children}
        </main>
      </body>
    </html>
  );
}

const linkClass =
  "flex items-baseline gap-2 rounded-md px-2 py-1 text-sm text-ink-2 -outline-offset-2 hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent-ink";

interface NavigationProps {
  tasks: readonly Task[];
  guides: readonly Guide[];
}

/** Links to all pages. The server marks the current page, and opens its section. */
export function Navigation({ tasks, guides }: NavigationProps) {
  const link = (to: string, content: ReactNode) => (
    <a href={to} className={linkClass}>
      {content}
    </a>
  );
  return (
    <>
      <div className="flex flex-col gap-3 border-b border-line p-3">
        <a href="/docs" className="flex items-center gap-1.5 self-start rounded-md px-2 pt-1">
          <Mark />
          <span className="text-sm text-ink-3">Docs</span>
        </a>
        <button
          type="button"
          data-search=""
          className="flex h-8 items-center gap-2 rounded-md border border-line-strong px-2 text-sm text-ink-3 hover:bg-hover hover:text-ink"
        >
          <Search className="size-4 shrink-0" aria-hidden />
          <span className="flex-1 text-left">Search …</span>
          <kbd className="rounded border border-line-strong px-1 font-sans text-xs max-md:hidden">Ctrl K</kbd>
        </button>
      </div>
      <nav aria-label="Documentation" className="flex min-h-0 flex-1 flex-col gap-1 overflow-y-auto p-3">
        {link("/docs", "Start")}
        {link("/docs/errors", "Errors")}
        {link("/docs/guides", "All guides")}
        {tasks.map(({ title, groups }) => (
          <Section key={title} title={title}>
            {groups.map((group) => (
              <div key={group.title}>
                {groups.length > 1 && (
                  <p className="px-2 pt-2 pb-0.5 text-xs text-ink-3 first-letter:uppercase">{group.title}</p>
                )}
                <ul>
                  {group.operations.map(({ operationId, method, summary }) => (
                    <li key={operationId}>
                      {link(
                        `/docs/${operationId}`,
                        <>
                          <span className="min-w-0 flex-1">{summary}</span>
                          <span className="scale-90">
                            <Method method={method} isShort />
                          </span>
                        </>,
                      )}
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </Section>
        ))}
        {[...Map.groupBy(guides.filter(isGuide), ({ group }) => group)].map(([group, listed]) => (
          <Section key={group} title={group}>
            <ul>
              {listed.map((guide) => (
                <li key={guide.address}>{link(guide.address, guide.title)}</li>
              ))}
            </ul>
          </Section>
        ))}
      </nav>
      <div className="flex flex-col border-t border-line p-3">
        {link("/", "Dashboard")}
        {link(
          "/openapi.json",
          <>
            openapi.json <ExternalLink className="size-3.5" aria-hidden />
          </>,
        )}
      </div>
    </>
  );
}

/** False for the list of errors, which is above the guides. */
const isGuide = ({ address }: Guide) => address.startsWith("/docs/guides/");

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details>
      <summary className="flex cursor-pointer list-none items-center justify-between rounded-md px-2 py-1.5 text-sm font-medium -outline-offset-2 hover:bg-hover">
        {title}
        <ChevronRight
          className="size-3.5 text-ink-3 transition-transform [details[open]>summary>&]:rotate-90"
          aria-hidden
        />
      </summary>
      <div className="border-l border-line ml-3 pl-1">{children}</div>
    </details>
  );
}
