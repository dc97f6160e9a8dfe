import { setTimeout as sleep } from "node:timers/promises";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import { openBrowser } from "../../../../server/test/support/sign-in/browser.ts";
import type { Page } from "../page.ts";
import { appScript, asFunction } from "./app-script.ts";
import { searchIn, type Tab, until } from "./dom-locator.ts";
import { openHistory } from "./history.ts";
import { openNetwork } from "./network.ts";
import { type DomWindow, openWindow, windowNames, windowValues } from "./window.ts";

export interface PageSettings {
  viewport: { width: number; height: number };
  colorScheme: "light" | "dark";
}

interface OpenPage extends PageSettings {
  origin: string;
  cookies: ReadonlyMap<string, string>;
  /** Called with whatever a page may not do. */
  report(problem: string): void;
}

/** The dashboard in a window of happy-dom, against a real server. */
export function openDomPage({ origin, cookies, report, ...settings }: OpenPage): Page {
  const browser = openBrowser(new Map(cookies));
  const network = openNetwork(browser, report);
  let window: DomWindow | undefined;
  let user: UserEvent | undefined;
  let isClosed = false;
  const current = () => {
    if (window === undefined) throw new Error("The page is closed.");
    return window;
  };
  const history = openHistory({ current, load: (url) => load(url) });

  function leave(): void {
    network.cancelAll();
    void window?.happyDOM.abort();
  }

  /** Loads a document, and runs its scripts. */
  async function load(url: string): Promise<void> {
    leave();
    // After the page is closed, a script may still navigate, and another server may be listening on the port by then.
    if (isClosed) return;
    const { address, html } = await network.loadDocument(url);
    const opened = openWindow(address, settings);
    if (window !== undefined) keepStored(window, opened);
    network.serve(opened);
    history.serve(opened, address);
    reportErrors(opened, report);
    opened.document.write(html.replaceAll(/<script[^>]*><\/script>|<link [^>]*>/g, ""));
    window = opened;
    user = userEvent.setup({ document: opened.document, delay: null, pointerEventsCheck: 0 });
    for (const [, source = ""] of html.matchAll(/<script[^>]* src="([^"]+)"/g)) {
      const loading = source.startsWith("/assets/main-")
        ? appScript(windowNames)
        : network.loadText(source).then((text) => asFunction(windowNames, text));
      // The server may stop when the page is closed.
      const script = await loading.catch((error: unknown) => {
        if (!isClosed) throw error;
      });
      if (isClosed || script === undefined) return;
      script(...windowValues(opened));
    }
  }

  async function act(deed: (user: UserEvent) => Promise<unknown>): Promise<void> {
    if (user !== undefined) await deed(user);
    for (let turn = 0; turn < 3; turn += 1) await sleep(0);
  }
  const tab: Tab = {
    window: current,
    act,
    evaluate: async (read, ...given) => (await evaluateIn(current(), read, given)) as never,
    keys: {
      press: (key) => act((user) => user.keyboard(keysOf(key))),
      type: (text) => act((user) => user.keyboard(text.replaceAll(/[[{]/g, "$&$&"))),
    },
  };
  const root = () => current().document.documentElement;
  return {
    ...searchIn(tab, (at) => [at]),
    keyboard: tab.keys,
    url: () => current().location.href,
    goto: async (url) => await history.open(new URL(url, origin).href),
    reload: async () => await load(current().location.href),
    goBack: async () => {
      await history.go(-1);
    },
    async close() {
      isClosed = true;
      leave();
      window = undefined;
    },
    evaluate: (read) => tab.evaluate(read),
    route: async (...route) => {
      network.route(...route);
    },
    unroute: async (url) => network.unroute(url),
    on: (_event, listener) => network.listen(listener),
    async waitForURL(url) {
      const matches = network.matcherOf(url);
      await until(() => matches(current().location.href) || undefined, root);
    },
    waitForRequest: (url) => network.next("request", url),
    waitForResponse: (url) => network.next("response", url),
    async waitForLoadState() {
      for (let idle = 0; idle < 3; ) {
        await sleep(20);
        idle = network.isIdle() ? idle + 1 : 0;
      }
    },
  };
}

/** Copies a tab's storage, which outlives its documents. */
function keepStored(from: DomWindow, to: DomWindow): void {
  for (const name of ["localStorage", "sessionStorage"] as const)
    for (const [key, value] of Object.entries({ ...from[name] })) to[name].setItem(key, value);
}

function reportErrors(window: DomWindow, report: (problem: string) => void): void {
  const reportError = (error: unknown) => report(`page: ${error instanceof Error ? error.stack : error}`);
  const error = (...said: unknown[]) => report(`console: ${said.map(String).join(" ")}`);
  Object.assign(window, { reportError, console: { ...console, error } });
  window.addEventListener("error", (event) => reportError(event.error ?? event.message));
}

/** Runs a test's function with the window's names, as a browser does. */
async function evaluateIn(
  window: DomWindow,
  read: (...given: never[]) => unknown,
  given: unknown[],
): Promise<unknown> {
  const run = asFunction([...windowNames, "given"], `return (${read})(...given)`) as (
    ...all: unknown[]
  ) => unknown;
  return await run(...windowValues(window), given);
}

/** `Control+k` in the notation of user-event. */
function keysOf(combination: string): string {
  const parts = combination.length === 1 ? [combination] : combination.split("+");
  const key = parts.pop() ?? "";
  const pressed = parts.map((part) => `{${part}>}`).join("");
  const released = parts
    .map((part) => `{/${part}}`)
    .reverse()
    .join("");
  const named = key.length > 1 ? `{${key}}` : key.replace(/[[{]/, "$&$&");
  return pressed + named + released;
}
