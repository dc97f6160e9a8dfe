import type { BrowserContext } from "playwright-core";

/**
 * What a slow machine delays, one at a time, so that a test that depends on speed fails for certain: requests before they are
 * sent, responses before the page gets them, both in alternation, scripts, React's rendering after an event, or everything.
 */
const slowable = ["requests", "responses", "either", "scripts", "renders", "processor"] as const;
type Slowable = (typeof slowable)[number];

/** Longer than the half second without requests that Playwright considers idle. */
const holdMs = 700;
const renderHoldMs = 100;
const throttling = 6;

/** Slows down the pages of a context according to `PRESAGE_TEST_SLOW`, if it is set. */
export async function slowDown(context: BrowserContext): Promise<void> {
  const { PRESAGE_TEST_SLOW: wanted = "" } = process.env;
  if (wanted === "") return;
  const slow = slowable.find((one) => one === wanted);
  if (slow === undefined) throw new Error(`PRESAGE_TEST_SLOW must be one of ${slowable.join(", ")}.`);
  if (slow === "processor") {
    context.on("page", async (page) => {
      const session = await context.newCDPSession(page);
      await session.send("Emulation.setCPUThrottlingRate", { rate: throttling });
    });
  } else if (slow === "scripts") {
    await context.route("**/assets/**", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, holdMs));
      await route.continue();
    });
  } else if (slow === "renders") {
    await context.addInitScript(holdRenders, renderHoldMs);
  } else {
    await context.addInitScript(holdRequests, { slow, holdMs });
  }
}

/** React's scheduler continues by sending itself a message, except when it renders the response to a click or a key. */
function holdRenders(holdMs: number): void {
  const post = MessagePort.prototype.postMessage;
  MessagePort.prototype.postMessage = function (message: unknown) {
    setTimeout(() => post.call(this, message), holdMs);
  };
}

/** Runs in the page, so that streams stay streams and tests can still route requests. */
function holdRequests({ slow, holdMs }: { slow: Slowable; holdMs: number }): void {
  const send = window.fetch;
  const sendUpload = XMLHttpRequest.prototype.send;
  let sent = 0;
  const hold = (isHeld: boolean) => new Promise((resolve) => setTimeout(resolve, isHeld ? holdMs : 0));
  const heldFetch = async (...call: Parameters<typeof fetch>): Promise<Response> => {
    sent += 1;
    const isOdd = sent % 2 === 1;
    await hold(slow === "requests" || (slow === "either" && isOdd));
    const response = await send(...call);
    await hold(slow === "responses" || (slow === "either" && !isOdd));
    return response;
  };
  window.fetch = Object.assign(heldFetch, send);
  XMLHttpRequest.prototype.send = function (body) {
    setTimeout(() => sendUpload.call(this, body), slow === "responses" ? 0 : holdMs);
  };
}
