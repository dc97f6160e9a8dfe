import type { DomWindow } from "./window.ts";

interface Entry {
  url: string;
  state: unknown;
  /** The document that made the entry: going to an entry of another document loads it. */
  window: DomWindow | undefined;
}

interface HistoryOf {
  current(): DomWindow;
  load(url: string): Promise<void>;
}

/** The session history of a page across all its documents, which happy-dom lacks without navigation. */
export function openHistory({ current, load }: HistoryOf) {
  let entries: Entry[] = [];
  let index = -1;
  let isTravelling = false;

  function replace(entry: Entry): void {
    entries[index] = entry;
    if (entry.window !== undefined) entry.window.happyDOM.setURL(entry.url);
  }

  function push(entry: Entry): void {
    entries = entries.slice(0, index + 1);
    index += 1;
    replace(entry);
  }

  async function open(url: string): Promise<void> {
    push({ url, state: null, window: undefined });
    await load(url);
  }

  async function go(delta: number): Promise<void> {
    const entry = entries[index + delta];
    if (entry === undefined) return;
    index += delta;
    const window = current();
    if (entry.window !== window) {
      isTravelling = true;
      return await load(entry.url);
    }
    window.happyDOM.setURL(entry.url);
    window.dispatchEvent(new window.PopStateEvent("popstate", { state: entry.state }));
  }

  /** Gives a loaded document its history and its means of navigation. */
  function serve(window: DomWindow, address: string): void {
    const state = isTravelling ? (entries[index]?.state ?? null) : null;
    isTravelling = false;
    replace({ url: address, state, window });
    const resolve = (url: string | URL | null | undefined) => new URL(url ?? "", window.location.href).href;
    const history = {
      get length() {
        return entries.length;
      },
      get state() {
        return entries[index]?.state;
      },
      scrollRestoration: "auto",
      pushState: (next: unknown, _: string, url?: string) => push({ url: resolve(url), state: next, window }),
      replaceState: (next: unknown, _: string, url?: string) =>
        replace({ url: resolve(url), state: next, window }),
      go: (delta: number) => void go(delta),
      back: () => void go(-1),
      forward: () => void go(1),
    };
    const leaveFor = (url: string) => void open(resolve(url));
    Object.defineProperty(window, "history", { value: history });
    Object.defineProperties(window.location, {
      assign: { value: leaveFor },
      replace: { value: leaveFor },
      reload: { value: () => void load(window.location.href) },
    });
    // Called for links that no script handles.
    window.open = (url) => {
      const to = new URL(String(url), window.location.href);
      const { href, hash } = window.location;
      if (to.hash !== "" && to.href === href.slice(0, href.length - hash.length) + to.hash)
        window.document.querySelector<HTMLElement>(to.hash)?.focus();
      else leaveFor(to.href);
      return null;
    };
  }

  return { open, go, serve };
}
