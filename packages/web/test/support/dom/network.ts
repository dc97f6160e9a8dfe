import type { Browser } from "../../../../server/test/support/sign-in/browser.ts";
import type { PageRequest, PageRoute } from "../page.ts";
import type { DomWindow } from "./window.ts";

interface Route {
  url: string | RegExp;
  matches(url: string): boolean;
  handle(route: PageRoute): unknown;
  times: number;
}

type Listener = (request: PageRequest) => void;

/** Sends the requests of a page with its cookies. The test can listen to requests, and answer them. */
export function openNetwork(browser: Browser, report: (problem: string) => void) {
  let origin = "";
  let routes: Route[] = [];
  const requestListeners: Listener[] = [];
  const waiting: { kind: "request" | "response"; matches(url: string): boolean; done(): void }[] = [];
  let inFlight = 0;
  let closing = new AbortController();

  function tell(kind: "request" | "response", url: string): void {
    for (const waiter of waiting.filter((one) => one.kind === kind && one.matches(url))) {
      waiting.splice(waiting.indexOf(waiter), 1);
      waiter.done();
    }
  }

  async function send(
    window: DomWindow,
    input: string | URL | Request,
    init: RequestInit = {},
  ): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : input, window.location.href).href;
    const method = init.method ?? "GET";
    const signals = [closing.signal, ...(init.signal ? [init.signal] : [])];
    const body = await bodyOf(init.body);
    const request = { ...init, ...(body !== undefined && { body }), signal: AbortSignal.any(signals) };
    const asked: PageRequest = { url: () => url, method: () => method };
    inFlight += 1;
    try {
      for (const listener of requestListeners) listener(asked);
      tell("request", url);
      const response = await answer(asked, () => browser.fetch(url, request));
      if (!response.ok)
        report(
          `console: Failed to load resource: the server responded with a status of ${response.status} (${url})`,
        );
      tell("response", url);
      return response;
    } catch (error) {
      if (!signals.some(({ aborted }) => aborted))
        report(`console: Failed to load resource: net::ERR_FAILED (${url})`);
      throw error;
    } finally {
      inFlight -= 1;
    }
  }

  /** The newest matching route answers. */
  async function answer(asked: PageRequest, fetchIt: () => Promise<Response>): Promise<Response> {
    const route = routes.findLast((one) => one.times > 0 && one.matches(asked.url()));
    if (route === undefined) return await fetchIt();
    route.times -= 1;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const offered: PageRoute = {
      request: () => asked,
      continue: async () => void fetchIt().then(resolve, reject),
      fetch: () => fetchIt(),
      fulfill: async ({ status = 200, json }) => resolve(Response.json(json, { status })),
      abort: async () => reject(new TypeError("Failed to fetch")),
    };
    closing.signal.addEventListener("abort", () => reject(closing.signal.reason));
    // A handler that waits must not hold up a page that has been left.
    void Promise.resolve(route.handle(offered)).catch(reject);
    return await promise;
  }

  return {
    /** Loads a page as a browser does, with its redirects. */
    async loadDocument(address: string): Promise<{ address: string; html: string }> {
      let url = address;
      for (;;) {
        const response = await browser.fetch(url, {
          headers: { accept: "text/html", "sec-fetch-mode": "navigate" },
        });
        const next = response.headers.get("location");
        if (next === null) {
          if (!response.ok)
            report(
              `console: Failed to load resource: the server responded with a status of ${response.status} (${url})`,
            );
          origin = new URL(url).origin;
          return { address: url, html: await response.text() };
        }
        url = new URL(next, url).href;
      }
    },
    async loadText(path: string): Promise<string> {
      return await (await browser.fetch(new URL(path, origin))).text();
    },
    serve(window: DomWindow): void {
      const ofWindow = (input: string | URL | Request, init?: RequestInit) => send(window, input, init);
      Object.defineProperty(window, "fetch", { value: ofWindow, configurable: true });
      // happy-dom itself sends uploads.
      for (const [name, value] of browser.cookies) window.document.cookie = `${name}=${value}`;
    },
    route(url: string | RegExp, handle: Route["handle"], { times = Number.POSITIVE_INFINITY } = {}): void {
      routes.push({ url, matches: matcherOf(url), handle, times });
    },
    unroute(url: string | RegExp): void {
      routes = routes.filter((route) => String(route.url) !== String(url));
    },
    listen: (listener: Listener) => void requestListeners.push(listener),
    next: (kind: "request" | "response", url: string | RegExp) =>
      new Promise<void>((done) => {
        waiting.push({ kind, matches: matcherOf(url), done });
      }),
    matcherOf,
    isIdle: () => inFlight === 0,
    cancelAll(): void {
      closing.abort();
      closing = new AbortController();
    },
  };
}

/** Converts files, since those of happy-dom are not those of Bun. */
async function bodyOf(body: RequestInit["body"]): Promise<RequestInit["body"]> {
  const isForeign =
    typeof body === "object" && body !== null && "arrayBuffer" in body && !(body instanceof Blob);
  if (!isForeign) return body;
  return new Uint8Array(await (body as unknown as Blob).arrayBuffer());
}

/** Two stars match anything, one star anything without a slash, as in Playwright. */
function matcherOf(url: string | RegExp | ((url: URL) => boolean)): (found: string) => boolean {
  if (typeof url === "function") return (found) => url(new URL(found));
  if (url instanceof RegExp) return (found) => url.test(found);
  const pattern = url
    .replaceAll(/[.+^$(){}|[\]\\?]/g, "\\$&")
    .replaceAll("**/", "(?:.*/)?")
    .replaceAll(/(?<!\.)\*+/g, (stars) => (stars.length > 1 ? ".*" : "[^/]*"));
  return (found) => new RegExp(`^${pattern}$`).test(found);
}
